import { readFile, stat } from 'node:fs/promises';
import { type Document, LineCounter, parseDocument, visit } from 'yaml';
import type { Node } from '../../../gen/stageplane/v1/node.js';
import { limits } from '../../core/limits.js';
import type { Violation } from '../failure.js';
import { type PoolProblem, readPoolNodes } from './pool-nodes.js';

export type PoolFile =
  | {
      readonly kind: 'read';
      /** By ascending id, from 2 on. */
      readonly nodes: readonly Node[];
    }
  /** At least one problem; `field` is where in the file. */
  | { readonly kind: 'refused'; readonly problems: readonly Violation[] };

/** Reads nodes that there may never be: YAML, or JSON, which is YAML too. */
export async function readPoolFile(path: string): Promise<PoolFile> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return refused('is no file on this machine; write one that lists nodes, or name another');
  if (found.size > limits.poolFileBytes) {
    return refused(`has ${found.size} bytes; describe the pool in at most ${limits.poolFileBytes}`);
  }
  const text = await readFile(path, 'utf8').catch((error: Error) => error);
  if (typeof text !== 'string') return refused(`cannot be read: ${text.message}`);
  const pool = parsePool(text);
  if (pool.kind === 'read') return pool;
  return {
    kind: 'refused',
    problems: pool.problems.map(({ field, message }) => ({ field: `${path}, ${field}`, message })),
  };

  function refused(problem: string): PoolFile {
    return { kind: 'refused', problems: [{ field: '--nodes', message: `"${path}" ${problem}` }] };
  }
}

/** The same of a text. */
export function parsePool(text: string): PoolFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken) {
    return {
      kind: 'refused',
      problems: [{ field: `line ${lines.linePos(broken.pos[0]).line}`, message: broken.message }],
    };
  }
  const value = plainValue(document);
  if (value instanceof Error) return { kind: 'refused', problems: [{ field: 'nodes', message: value.message }] };
  const { nodes, problems } = readPoolNodes(value);
  if (problems.length === 0) return { kind: 'read', nodes };
  return { kind: 'refused', problems: problems.map((problem) => located(problem, document, lines)) };
}

/** An error where the text refers to what it has not named, or to too much. */
function plainValue(document: Document): unknown {
  try {
    // Looking up what one of them means takes as long as the file is, so they are counted before.
    const aliases = aliasesIn(document);
    if (aliases > limits.poolFileAliases) {
      return new Error(
        `repeat what was named before ${aliases} times; do that at most ${limits.poolFileAliases} times`,
      );
    }
    return document.toJS({ maxAliasCount: limits.poolFileAliases });
  } catch (error) {
    return error;
  }
}

function aliasesIn(document: Document): number {
  let count = 0;
  visit(document, {
    Alias: () => {
      count += 1;
    },
  });
  return count;
}

/** Where a problem is, as a line and the path of a field. */
function located({ path, message }: PoolProblem, document: Document, lines: LineCounter): Violation {
  const at = lineOf(path, document, lines);
  const field = path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`),
    'nodes',
  );
  return { field: at === undefined ? field : `line ${at}, ${field}`, message };
}

/** The line of the field, or else of what should have it. */
function lineOf(path: readonly (string | number)[], document: Document, lines: LineCounter): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { readonly range?: readonly number[] } | undefined;
    const [offset] = node?.range ?? [];
    if (offset !== undefined) return lines.linePos(offset).line;
  }
  return undefined;
}
