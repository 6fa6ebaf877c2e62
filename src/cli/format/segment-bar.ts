/** One part of a bar; `letter` fills its cells. */
export interface Segment {
  readonly letter: string;
  /** Not negative, in the unit of the others. */
  readonly size: number;
}

/** Sizes side by side: `xxxWWWWKK···`. What is there at all has at least one cell. */
export function segmentBar(segments: readonly Segment[], width: number): string {
  const whole = segments.reduce((sum, { size }) => sum + size, 0);
  if (whole <= 0) return '·'.repeat(width);
  const cells = segments.map(({ size }) => (size > 0 ? Math.max(1, Math.round((size * width) / whole)) : 0));
  // Where a cell too many or too few shows least.
  const longest = cells.indexOf(Math.max(...cells));
  const missing = width - cells.reduce((sum, count) => sum + count, 0);
  return segments.map(({ letter }, at) => letter.repeat((cells[at] ?? 0) + (at === longest ? missing : 0))).join('');
}
