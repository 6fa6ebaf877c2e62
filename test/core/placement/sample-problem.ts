import fc from 'fast-check';
import { nodeId } from '../../../src/core/ids.js';
import type { PlacementNode, PlacementProblem } from '../../../src/core/placement/placement-problem.js';

export const GB = 1e9;

/** A model by its parts, in bytes. */
export interface SampleModel {
  readonly layers: readonly number[];
  readonly embedding: number;
  readonly head: number;
}

export function sampleNode(id: number, usable: number, changes: Partial<PlacementNode> = {}): PlacementNode {
  return {
    nodeId: nodeId(BigInt(id)),
    name: `node-${id}`,
    usable,
    capacity: Math.max(1, Math.ceil(usable / 0.8)),
    overhead: 0,
    secondsPerByte: 1 / (500 * GB),
    hopSeconds: 0.0005,
    ...changes,
  };
}

export function sampleProblem(
  { layers, embedding, head }: SampleModel,
  nodes: readonly PlacementNode[],
  changes: Partial<PlacementProblem> = {},
): PlacementProblem {
  const before = [0];
  for (const bytes of layers) before.push(before.at(-1)! + bytes);
  const numLayers = layers.length;
  const headAt = (end: number) => (end === numLayers ? head : 0);
  return {
    numLayers,
    starts: undefined,
    bytes: (start, end) => before[end]! - before[start]! + (start === 0 ? embedding : 0) + headAt(end),
    bytesRead: (start, end) => before[end]! - before[start]! + headAt(end),
    embeddingBytes: embedding,
    headBytes: head,
    nodes,
    minStages: 1,
    maxStages: nodes.length,
    pins: new Map(),
    ...changes,
  };
}

export function evenModel(numLayers: number, layer: number, embedding: number, head: number): SampleModel {
  return { layers: Array(numLayers).fill(layer), embedding, head };
}

interface Shape {
  minNodes?: number;
  maxNodes: number;
  maxLayers: number;
}

/** Small numbers, so that ties, tight fits and refusals are common. */
export function anyProblem({ minNodes = 1, maxNodes, maxLayers }: Shape): fc.Arbitrary<PlacementProblem> {
  const node = fc.record({
    usable: fc.integer({ min: 0, max: 40 }),
    overhead: fc.integer({ min: 0, max: 3 }),
    secondsPerByte: fc.integer({ min: 1, max: 4 }),
    hopSeconds: fc.integer({ min: 0, max: 6 }),
    maxLayers: fc.option(fc.integer({ min: 1, max: maxLayers }), { nil: undefined, freq: 3 }),
  });
  return fc
    .record({
      layers: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: maxLayers }),
      embedding: fc.integer({ min: 0, max: 12 }),
      head: fc.integer({ min: 0, max: 12 }),
      nodes: fc.array(node, { minLength: minNodes, maxLength: maxNodes }),
      minStages: fc.integer({ min: 1, max: 3 }),
      spread: fc.integer({ min: 0, max: maxNodes }),
      cuts: fc.option(fc.array(fc.boolean(), { minLength: maxLayers, maxLength: maxLayers }), {
        nil: undefined,
        freq: 3,
      }),
      refused: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 4 }),
      pin: fc.option(fc.record({ stage: fc.nat(2), node: fc.nat(maxNodes - 1) }), { nil: undefined, freq: 3 }),
      maxSeconds: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined, freq: 4 }),
    })
    .map((shape) => {
      const nodes = shape.nodes.map(({ maxLayers, ...rest }, at) =>
        sampleNode(at + 2, rest.usable, { ...rest, capacity: 50, ...(maxLayers === undefined ? {} : { maxLayers }) }),
      );
      const pinned = shape.pin && nodes[shape.pin.node % nodes.length]!.nodeId;
      return sampleProblem(shape, nodes, {
        starts: shape.cuts && shape.layers.slice(1).flatMap((_, at) => (shape.cuts![at] ? [at + 1] : [])),
        refusedLengths: shape.refused === undefined ? [] : [shape.refused],
        minStages: shape.minStages,
        maxStages: shape.minStages + shape.spread,
        pins: shape.pin && pinned !== undefined ? new Map([[shape.pin.stage, pinned]]) : new Map(),
        ...(shape.maxSeconds === undefined ? {} : { maxSecondsPerToken: shape.maxSeconds }),
      });
    });
}
