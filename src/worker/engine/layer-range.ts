/** The plan's half-open `[start, end)` as the engine contract's inclusive range. Nothing else converts between them. */
export function inclusiveRange(start: number, end: number): { shardStart: number; shardEnd: number } {
  return { shardStart: start, shardEnd: end - 1 };
}
