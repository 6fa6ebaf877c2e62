import { escapeControls } from './escape.js';

/** Columns of a node in a table, so that the table keeps to the page. */
const TITLE_COLUMNS = 24;

/** `alpha (2)` for a cell of a table: escaped, a long name cut, the id always whole. */
export function nodeTitle(name: string | undefined, nodeId: bigint): string {
  const id = ` (${nodeId})`;
  return `${shortened(escapeControls(name || 'node'), TITLE_COLUMNS - id.length)}${id}`;
}

/** A text that is safe already, cut to so many columns. */
export function shortened(text: string, columns: number): string {
  return text.length > columns ? `${text.slice(0, Math.max(1, columns - 1))}…` : text;
}
