/** Lines of each part of the picture, its head among them. */
export interface Layout {
  readonly pool: number;
  readonly runs: number;
  readonly events: number;
}

/** Title, counts and keys. */
const FRAME_LINES = 3;

/**
 * Shares the lines of a terminal out: events get a fifth, the pool what it needs up to half of the rest, runs what is left.
 * One line stays empty, since a picture as high as the terminal makes it scroll.
 */
export function layoutOf(rows: number, poolRows: number): Layout {
  const body = Math.max(6, rows - 1 - FRAME_LINES);
  const events = Math.max(3, Math.min(12, Math.floor(body / 5)));
  const pool = Math.min(poolRows + 1, Math.max(2, Math.floor((body - events) / 2)));
  return { pool, events, runs: body - events - pool };
}

/** The first line that is shown of `count`, so that the selected one is seen. */
export function windowStart(first: number, selected: number, count: number, lines: number): number {
  const latest = Math.max(0, count - lines);
  const start = Math.min(Math.max(0, first), latest);
  if (selected < start) return selected;
  return selected >= start + lines ? Math.min(latest, selected - lines + 1) : start;
}
