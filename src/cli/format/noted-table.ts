import { escapeControls } from './escape.js';
import { type Column, renderTable } from './table.js';
import { wrapText } from './wrap-text.js';

const INDENT = 4;

/**
 * A table with a sentence below some of its rows, which would be too wide for a column.
 *
 * @param notes one per row, not escaped; undefined or empty for none
 */
export function notedTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  notes: readonly (string | undefined)[],
): string {
  const [head = '', ...lines] = renderTable(columns, rows).split('\n');
  return [head, ...lines.flatMap((line, at) => [line, ...noteBelow(notes[at])])].join('\n');
}

function noteBelow(note: string | undefined): string[] {
  return note ? [' '.repeat(INDENT) + wrapText(escapeControls(note), INDENT)] : [];
}
