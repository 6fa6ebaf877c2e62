import { expect, it } from 'vitest';
import { renderFields, renderTable } from '../../../src/cli/format/table.js';

it('aligns columns without borders, colours or blanks at the end', () => {
  const columns = [{ head: 'ID', align: 'right' }, { head: 'NAME' }, { head: 'X' }] as const;
  const rows = [
    ['2', 'alpha', 'y'],
    ['10', '节点', ''],
  ];
  expect(renderTable(columns, rows)).toBe('ID  NAME   X\n 2  alpha  y\n10  节点');
});

it('aligns the values of fields', () => {
  expect(
    renderFields([
      ['a', '1'],
      ['long name', '2'],
    ]),
  ).toBe('a:         1\nlong name: 2');
});
