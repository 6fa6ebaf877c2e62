import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { PlanRejectionKind, ProjectionRejectionKind } from '../gen/stageplane/v1/rejection.js';
import { StageFaultReason } from '../gen/stageplane/v1/run.js';
import { TextRefusalReason } from '../gen/stageplane/v1/token_endpoint.js';

const src = join(import.meta.dirname, '..', 'src');
const page = readFileSync(join(src, 'TROUBLESHOOTING.md'), 'utf8');
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ts.createSourceFile(file, readFileSync(join(src, file), 'utf8'), ts.ScriptTarget.Latest, true));

/** Unions of reasons in small letters. */
const unions = ['StoreErrorKind', 'FolderRefusalReason', 'FileRefusalReason', 'GgufErrorKind', 'TlsRefusal'];

/** Constants that are no reasons: of the system, of other libraries, of the environment, of the engine contract. */
const otherwise = [
  /^(SQLITE|ERR|EAI|STAGEPLANE|XDG|CUDA|HIP|ROCR|LD|DYLD|NO)_(?!WELCOME|IDENTITY|ENROLLMENT|SUCH|LOG|NODE)/,
  /^I?Q\d|^MXFP|^BF?\d/,
  /^STAGE_FEATURE_/,
  /^(WAITING_READY|TEARING_DOWN|NOT_REQUESTED|EXPECT_HIT|CACHE_MISS|UNKNOWN_SESSION|NOT_LOADED)$/,
];

const inCode = new Set([
  ...sources.flatMap(constantsIn),
  ...[StageFaultReason, PlanRejectionKind, ProjectionRejectionKind, TextRefusalReason].flatMap(namesOf),
  ...sources.flatMap(membersOfUnions),
]);

describe('the page of troubles', () => {
  const [tables = '', notes = ''] = page.split('## Notes');
  const told = [...(tables.match(/^\| `[^|]+/gm) ?? []), notes].flatMap(
    (text) => text.match(/(?<=`)[\w-]+(?=`)/g) ?? [],
  );

  it('has every reason of the code', () => {
    expect([...inCode].filter((reason) => !page.includes(`\`${reason}\``)).sort()).toEqual([]);
  });

  it('has none that the code has not', () => {
    expect(told.filter((reason) => !inCode.has(reason))).toEqual([]);
  });
});

/** Literals of several words in capitals, and of one where they are given as a reason. */
function constantsIn(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) && isConstant(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isConstant(node: ts.StringLiteral): boolean {
  if (!(isGivenAsReason(node) ? /^[A-Z][A-Z_]+$/ : /^[A-Z][A-Z\d]*(_[A-Z\d]+)+$/).test(node.text)) return false;
  return !(node.text in status) && !otherwise.some((pattern) => pattern.test(node.text));
}

function isGivenAsReason({ parent }: ts.StringLiteral): boolean {
  if (ts.isPropertyAssignment(parent)) return parent.name.getText() === 'reason';
  return (
    (ts.isNewExpression(parent) || ts.isCallExpression(parent)) && /Error$|\.note$/.test(parent.expression.getText())
  );
}

/** Of a generated enum, without its prefix: the words that all of its names begin with. */
function namesOf(type: object): string[] {
  const names = Object.keys(type).filter((name) => /^[A-Z_]+$/.test(name) && name !== 'UNRECOGNIZED');
  const prefix = names.find((name) => name.endsWith('_UNSPECIFIED'))!.slice(0, -'UNSPECIFIED'.length);
  return names.map((name) => name.slice(prefix.length)).filter((name) => name !== 'UNSPECIFIED');
}

function membersOfUnions(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isTypeAliasDeclaration(statement) || !unions.includes(statement.name.text)) return [];
    return statement.type.getText().match(/(?<=')[a-z-]+(?=')/g) ?? [];
  });
}
