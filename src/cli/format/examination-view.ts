import type { Examined } from '../../doctor/examine.js';
import { escapeControls } from './escape.js';
import { wrapText } from './wrap-text.js';

const words = { ok: 'ok', warning: 'WARNING', failed: 'FAILED', skipped: 'skipped' } as const;

/** A line per check, and below those that are not well what to do; then how many there are of each kind. */
export function examinationView(examined: readonly Examined[]): string {
  const width = Math.max(...examined.map(({ name }) => name.length));
  const indent = width + words.warning.length + 4;
  const lines = examined.flatMap(({ name, finding }) => {
    const texts = 'advice' in finding ? [finding.message, finding.advice] : [finding.message];
    const [said = '', ...advice] = texts.map((text) => wrapText(escapeControls(text), indent));
    const head = `${name.padEnd(width)}  ${words[finding.kind].padEnd(words.warning.length)}  `;
    return [head + said, ...advice.map((text) => ' '.repeat(indent) + text)];
  });
  return [...lines, '', summary(examined)].join('\n');
}

function summary(examined: readonly Examined[]): string {
  const count = (kind: keyof typeof words) => examined.filter(({ finding }) => finding.kind === kind).length;
  return `${count('ok')} ok, ${count('warning')} with a warning, ${count('failed')} failed, ${count('skipped')} skipped`;
}
