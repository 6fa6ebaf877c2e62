import type { EngineHere, Installation } from '../../doctor/installation.js';
import { escapeControls } from './escape.js';
import { renderFields } from './table.js';

/** What is installed here; its first line is the version alone. */
export function installationView(here: Installation): string {
  const fields = renderFields([
    ['wire', `${here.wire}, agent protocol ${here.agentProtocol}, worker protocol ${here.workerProtocol}`],
    ['edge records', here.edgeRecord],
    ['store schema', String(here.storeSchema)],
    ...here.engines.map((engine) => [`engine ${engine.name}`, engineWords(engine)] as const),
    ['Node.js', here.node],
    ['platform', here.platform],
  ]);
  return `stageplane ${here.version}\n${fields}`;
}

function engineWords(engine: EngineHere): string {
  if (!engine.offered) return `not offered: ${escapeControls(engine.reason)}`;
  return escapeControls(engine.build ?? 'offered, but does not load here; see stageplane doctor --role agent');
}
