import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const core = join(import.meta.dirname, '..', '..', 'src', 'core');
const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** Names through which time, chance and the world outside come in. */
const impure = new Set([
  'Date',
  'Math.random',
  'performance',
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'fetch',
  'crypto',
]);

describe('the core', () => {
  it.each(files)('%s imports only the core and generated types', (file) => {
    const source = parse(file);
    for (const specifier of importsOf(source)) {
      const target = join('/core', file, '..', specifier);
      expect(target, `${specifier} is neither core nor gen`).toMatch(/^\/core\/|^\/\.\.\/gen\/|^\/gen\//);
    }
  });

  it.each(files)('%s reads no clock, chance or environment', (file) => {
    expect(impureNames(parse(file), file)).toEqual([]);
  });

  it('would be caught if it did', () => {
    const bad = ts.createSourceFile('bad.ts', 'const at = Date.now() + Math.random();', ts.ScriptTarget.Latest, true);
    expect(impureNames(bad, 'bad.ts')).toEqual(['Date', 'Math.random']);
  });
});

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(core, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

function importsOf(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) =>
    (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
    statement.moduleSpecifier &&
    ts.isStringLiteral(statement.moduleSpecifier)
      ? [statement.moduleSpecifier.text]
      : [],
  );
}

function impureNames(source: ts.SourceFile, file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && impure.has(node.getText())) found.push(node.getText());
    if (ts.isIdentifier(node) && impure.has(node.text) && isValue(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  // The wire's timestamps are Dates made of a time that the shell gave.
  return file === 'machine/draft.ts' ? found.filter((name) => name !== 'Date') : found;
}

function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  return ts.isCallExpression(parent) || ts.isNewExpression(parent) || ts.isVariableDeclaration(parent);
}
