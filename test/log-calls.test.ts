import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
const fields = new Set(readVocabulary(readFileSync(join(root, 'src', 'README.md'), 'utf8')));

/** One call that writes a line to a log. */
interface LogCall {
  readonly where: string;
  readonly message: ts.Type | undefined;
  readonly fields: ts.Type | undefined;
}

const program = openProgram();
const checker = program.getTypeChecker();
const calls = program
  .getSourceFiles()
  .filter(({ fileName }) => fileName.startsWith(join(root, 'src')))
  .flatMap(logCallsOf);

it('finds the calls', () => {
  expect(calls.length).toBeGreaterThan(50);
  expect(fields.size).toBeGreaterThan(20);
});

it('every message of a log is a constant, so that it can be looked for', () => {
  expect(calls.filter(({ message }) => !isConstant(message)).map(({ where }) => where)).toEqual([]);
});

it('every field of a log has a name of the table in src/README.md', () => {
  const strange = calls.flatMap(({ where, fields: type }) =>
    namesIn(type)
      .filter((name) => !fields.has(name))
      .map((name) => `${where}: ${name}`),
  );
  expect(strange).toEqual([]);
});

it('and the table has no name that nobody logs', () => {
  const logged = new Set(calls.flatMap(({ fields: type }) => namesIn(type)));
  expect([...fields].filter((name) => !logged.has(name))).toEqual([]);
});

function openProgram(): ts.Program {
  const path = join(root, 'tsconfig.json');
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path, ts.sys.readFile).config,
    ts.sys,
    root,
  );
  return ts.createProgram(fileNames, options);
}

/** Names between backticks in the first column of the table under `## Logs`. */
function readVocabulary(markdown: string): string[] {
  const section = /^## Logs$([\s\S]*?)^## /m.exec(markdown)?.[1] ?? '';
  const rows = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) +\|/gm)];
  return rows.flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
}

function logCallsOf(file: ts.SourceFile): LogCall[] {
  const found: LogCall[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const call = logCall(node, node.expression);
      if (call) found.push(call);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function logCall(node: ts.CallExpression, { name, expression }: ts.PropertyAccessExpression): LogCall | undefined {
  const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
  const where = `${relative(root, node.getSourceFile().fileName)}:${line + 1}`;
  const typeOf = (argument: ts.Expression | undefined) => argument && checker.getTypeAtLocation(argument);
  const [first, second, third] = node.arguments;
  // What the machines have to say; who carries it out hands on both as they are.
  if (name.text === 'say' && third) return { where, message: typeOf(second), fields: typeOf(third) };
  if (!isLogger(checker.getTypeAtLocation(expression))) return undefined;
  if (name.text === 'child') return { where, message: undefined, fields: typeOf(first) };
  if (!levels.has(name.text)) return undefined;
  const type = typeOf(first);
  if (type && isText(type)) return { where, message: type, fields: undefined };
  return { where, message: typeOf(second) ?? checker.getUndefinedType(), fields: type };
}

function isLogger(type: ts.Type): boolean {
  const given = type.getNonNullableType();
  return ['info', 'warn', 'error'].every((level) => given.getProperty(level) !== undefined);
}

function isText(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.StringLike) !== 0 || (type.isUnion() && type.types.every(isText));
}

function isConstant(type: ts.Type | undefined): boolean {
  if (type === undefined) return true;
  return type.isStringLiteral() || (type.isUnion() && type.types.every((one) => one.isStringLiteral()));
}

function namesIn(type: ts.Type | undefined): string[] {
  if (type === undefined) return [];
  if (type.isUnion()) return type.types.flatMap(namesIn);
  if (checker.getIndexInfosOfType(type).length > 0) return ['(any)'];
  return type.getProperties().map(({ name }) => name);
}
