import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const src = join(import.meta.dirname, '..', 'src');
const allowed = readTable(readFileSync(join(src, 'README.md'), 'utf8'));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => /\.tsx?$/.test(file) && file.includes('/'));

describe('who imports whom', () => {
  it('is said of every folder in src/README.md, and of no other', () => {
    const folders = new Set(files.map(folderOf));
    expect([...allowed.keys()].sort()).toEqual([...folders].sort());
  });

  it.each([...allowed.keys()])('%s keeps to the table, and the table to what it does', (folder) => {
    const imported = new Set(files.filter((file) => folderOf(file) === folder).flatMap(foldersImportedBy));
    imported.delete(folder);
    expect([...imported].sort()).toEqual([...(allowed.get(folder) ?? [])].sort());
  });
});

/** The rows of the table: a folder, and the folders between backticks in its last column. */
function readTable(markdown: string): Map<string, string[]> {
  const rows = [...markdown.matchAll(/^\| `([\w-]+)\/`.*\|([^|]*)\|$/gm)];
  return new Map(
    rows.map(([, folder = '', may = '']) => [folder, [...may.matchAll(/`([\w-]+)`/g)].map(([, to = '']) => to)]),
  );
}

/** The folders of `src` that a file imports, `gen` among them. Files that lie in `src` itself belong to everyone. */
function foldersImportedBy(file: string): string[] {
  return ts.preProcessFile(readFileSync(join(src, file), 'utf8')).importedFiles.flatMap(({ fileName }) => {
    if (!fileName.startsWith('.')) return [];
    const target = posix.join('src', file, '..', fileName);
    if (target.startsWith('gen/')) return ['gen'];
    const path = target.slice('src/'.length);
    return path.includes('/') ? [folderOf(path)] : [];
  });
}

function folderOf(path: string): string {
  return path.slice(0, path.indexOf('/'));
}
