import Table from 'cli-table3';

export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right';
}

const NO_BORDER = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** A table without borders or colours. Cells must be safe for a terminal already. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    chars: NO_BORDER,
    // Its own defaults colour heads and borders, terminal or not.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString().replace(/[ \t]+$/gm, '');
}

/** Names and values, one pair per line. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = fieldColumns(fields.map(([name]) => name));
  return fields.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`).join('\n');
}

/** The column at which the values of `renderFields` begin, for those that have more than one line. */
export function fieldColumns(names: readonly string[]): number {
  return Math.max(...names.map((name) => name.length)) + 2;
}
