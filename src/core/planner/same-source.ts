import type { Whole } from './message-shape.js';
import type { ggufSource } from './planner-shapes.js';

type Source = Whole<typeof ggufSource>;

/** Whether two sources name the same file in the same words. */
export function sameSource({ source: a }: Source, { source: b }: Source): boolean {
  if (a.$case === 'localPath' || b.$case === 'localPath') return a.$case === b.$case && a.value === b.value;
  return a.value.repo === b.value.repo && a.value.file === b.value.file && a.value.revision === b.value.revision;
}
