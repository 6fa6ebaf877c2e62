import { escapeControls } from './escape.js';

const sentences: Readonly<Record<string, string>> = {
  exact: 'exact: bit for bit what the whole model gives with the same build and settings',
  'same-kernels':
    'same kernels on every node, each with its own threads: tokens may differ from the whole model in rare ties',
  mixed: 'mixed: nodes compute with different kernels and round differently',
};

/** What a plan's fidelity means for its text. */
export function fidelitySentence(fidelity: string): string {
  return sentences[fidelity] ?? (fidelity === '' ? 'fidelity unknown' : escapeControls(fidelity));
}
