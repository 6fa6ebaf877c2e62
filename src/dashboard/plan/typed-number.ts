/** A whole number that somebody has typed; undefined for anything else. */
export function whole(text = ''): number | undefined {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}

/** What `text` is in parts of one: of thousandths, `0.25` is 250. Undefined for what is no number, or below 0. */
export function inParts(text: string, partsOfOne: number): number | undefined {
  return /^\d{1,6}(\.\d*)?$/.test(text.trim()) ? Math.round(Number(text) * partsOfOne) : undefined;
}
