/**
 * Takes join tokens out of the process list, which every user of the machine can read. The words were there for the moment
 * until now: `STAGEPLANE_JOIN` never is.
 */
export function hideSecrets(words: readonly string[]): void {
  if (!words.some(isSecret)) return;
  process.title = [
    'stageplane',
    ...words.map((word) => (isSecret(word) ? word.replace(/sp1\..*/s, 'sp1...') : word)),
  ].join(' ');
}

function isSecret(word: string): boolean {
  return /^(--join=)?sp1\../.test(word);
}
