import type { Reader, Reading } from './setting.js';

/** One stage and the node that shall hold it, by name or id. */
export interface StageNode {
  readonly stage: number;
  readonly node: string;
}

/** One stage and its layers `[start, end)`. */
export interface StageLayers {
  readonly stage: number;
  readonly start: number;
  readonly end: number;
}

/** `0=alpha,1=beta`. */
export const readPlacement: Reader<readonly StageNode[]> = (text) =>
  readStages(
    text,
    /^(\d{1,9})=([^\s=]+)$/,
    'is no placement; write stage=node pairs, such as 0=alpha,1=beta',
    (match) => ({
      stage: Number(match[1]),
      node: match[2] ?? '',
    }),
  );

/** `0=0-12,1=12-30`: half-open ranges, so that each begins where the last one ends. */
export const readLayerRanges: Reader<readonly StageLayers[]> = (text) =>
  readStages(
    text,
    /^(\d{1,9})=(\d{1,9})-(\d{1,9})$/,
    'gives no layer ranges; write stage=first-end pairs, the end not included, such as 0=0-12,1=12-30',
    (match) => ({ stage: Number(match[1]), start: Number(match[2]), end: Number(match[3]) }),
  );

function readStages<T extends { readonly stage: number }>(
  text: string,
  pattern: RegExp,
  problem: string,
  read: (match: RegExpExecArray) => T,
): Reading<readonly T[]> {
  const matches = text.split(',').map((part) => pattern.exec(part.trim()));
  const stages = matches.flatMap((match) => (match ? [read(match)] : []));
  if (stages.length < matches.length) return { kind: 'refused', problem };
  const twice = stages.find(({ stage }, at) => stages.findIndex((other) => other.stage === stage) !== at);
  return twice
    ? { kind: 'refused', problem: `names stage ${twice.stage} twice; give each stage once` }
    : { kind: 'read', value: stages };
}
