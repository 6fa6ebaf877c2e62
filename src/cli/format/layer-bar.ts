/**
 * A stage's share of the model as a picture: `··███···`. Bars of neighbouring stages meet without overlap, save that
 * each shows at least one cell.
 *
 * @param width cells, at least 1
 */
export function layerBar(start: number, end: number, total: number, width: number): string {
  if (total <= 0) return '·'.repeat(width);
  const first = Math.min(cell(start, total, width), width - 1);
  const last = Math.max(cell(end, total, width), first + 1);
  return `${'·'.repeat(first)}${'█'.repeat(last - first)}${'·'.repeat(width - last)}`;
}

/** How much of a whole is done, likewise: `████····`. */
export function progressBar(done: bigint, total: bigint, width: number): string {
  const filled = total > 0n ? Number((BigInt(width) * (done < total ? done : total)) / total) : 0;
  return `${'█'.repeat(filled)}${'·'.repeat(width - filled)}`;
}

function cell(layer: number, total: number, width: number): number {
  return Math.max(0, Math.min(width, Math.round((layer * width) / total)));
}
