/** What SQLite's checks find, which they say in several lines, as a clause of a sentence. */
export function oneLine(finding: unknown): string {
  return String(finding).replace(/\s+/g, ' ');
}
