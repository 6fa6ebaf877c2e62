import { escapeText } from '../format/escape.js';
import type { Output } from '../output.js';
import type { Endpoint } from './endpoint.js';

/** @param stop how to end what serves the model, on a line */
export function showEndpoint(output: Output, endpoint: Endpoint, stop: string): void {
  if (output.json) return output.jsonLine({ endpoint });
  const { url, dashboardUrl, model, needsKey, example } = endpoint;
  const rows: [string, string][] = [
    ['OpenAI endpoint', url || 'none: start the orchestrator with --http, or ask on its own machine'],
    ['dashboard', dashboardUrl],
    ['model', model],
    ['key', needsKey ? 'make one with `stageplane key create --name NAME`' : ''],
    ['try', example],
    ['stop', stop],
  ];
  const shown = rows.filter(([, value]) => value !== '');
  output.print(shown.map(([name, value]) => `${name.padEnd(17)}${escapeText(value)}`).join('\n'));
}
