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

/** Layers at most on one node, by name or id, or on each node with a label. */
export type LayerCap = { readonly layers: number } & (
  | { readonly kind: 'node'; readonly node: string }
  | { readonly kind: 'label'; readonly key: string; readonly value: string }
);

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

/** `alpha,beta`. */
export const readNodeNames: Reader<readonly string[]> = (text) => {
  const names = text.split(',').map((name) => name.trim());
  return names.every((name) => /^[^\s=]+$/.test(name))
    ? { kind: 'read', value: names }
    : { kind: 'refused', problem: 'names no nodes; write names or ids, such as alpha,3' };
};

/** `alpha=12,label:room=attic:4`. A node's name has no colon, so that a label is never taken for one. */
export const readLayerCaps: Reader<readonly LayerCap[]> = (text) => {
  const caps = text.split(',').map((part) => readLayerCap(part.trim()));
  const read = caps.filter((cap) => cap !== undefined);
  if (read.length === caps.length) return { kind: 'read', value: read };
  const problem =
    'bounds no layers; write node=layers or label:key=value:layers, at least 1 layer, such as alpha=12,label:room=attic:4';
  return { kind: 'refused', problem };
};

function readLayerCap(text: string): LayerCap | undefined {
  const [, key, value, labelled] = /^label:([^=]+)=(.*):([1-9]\d{0,8})$/.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return { kind: 'label', key, value, layers: Number(labelled) };
  const [, node, layers] = /^([^\s=:]+)=([1-9]\d{0,8})$/.exec(text) ?? [];
  return node === undefined ? undefined : { kind: 'node', node, layers: Number(layers) };
}

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
