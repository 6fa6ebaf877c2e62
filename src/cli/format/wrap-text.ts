/** Columns that a picture for people keeps to. */
export const PAGE_COLUMNS = 100;

/**
 * Breaks a text at blanks so that no line is wider than `columns`; a word that is, such as a path, stays whole. Lines after
 * the first begin with `indent` blanks, which the first line is taken to have before it already.
 */
export function wrapText(text: string, indent: number, columns = PAGE_COLUMNS): string {
  const room = Math.max(1, columns - indent);
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}
