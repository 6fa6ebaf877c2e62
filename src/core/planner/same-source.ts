import type { WholeGgufSource } from './read-model.js';

/** Whether two sources name the same file in the same words. */
export function sameSource({ source: a }: WholeGgufSource, { source: b }: WholeGgufSource): boolean {
  if (a.$case === 'localPath' || b.$case === 'localPath') return a.$case === b.$case && a.value === b.value;
  return a.value.repo === b.value.repo && a.value.file === b.value.file && a.value.revision === b.value.revision;
}
