import { formatBytes } from '../format-bytes.js';
import { type ConstraintConflict, constraintFields } from './constraint-conflict.js';
import { fastestPlacement, hasPlan } from './has-plan.js';
import { roomOn } from './measure.js';
import { secondsText } from './objective.js';
import { placementOf } from './placement.js';
import type { PlacementNode, PlacementProblem } from './placement-problem.js';
import { type SearchGrid, searchGrid } from './search-grid.js';
import { type Shortfall, shortfallsOf } from './shortfall.js';
import { minLatency } from './strategies/min-latency.js';

/** Why there is no placement. In bytes. */
export type PlacementFault =
  | {
      readonly kind: 'insufficient-memory';
      /** Of the split that comes nearest, and what its nodes can give. */
      readonly needed: number;
      readonly available: number;
      /** At least one. */
      readonly shortfalls: readonly Shortfall[];
    }
  | {
      readonly kind: 'no-node-fits-component';
      /** "head", "embedding" or "layer N". */
      readonly component: string;
      readonly needed: number;
      /** On `node`, the roomiest one. */
      readonly available: number;
      readonly node: PlacementNode;
    }
  | ({ readonly kind: 'infeasible-constraints' } & ConstraintConflict);

/** Why a problem without contradictions has no placement: the most particular reason that holds. */
export function placementFault(problem: PlacementProblem): PlacementFault {
  const grid = searchGrid(problem);
  return componentFault(grid) ?? constraintFault(problem) ?? memoryFault(grid);
}

/** A part that cannot be divided and fits on no node. What fits alone may still not fit beside the layer that it needs. */
function componentFault(grid: SearchGrid): PlacementFault | undefined {
  const { problem, units, width, bytes, layerAt } = grid;
  const node = problem.nodes[grid.roomiest[0]!]!;
  const embedding = { component: 'embedding', bytes: problem.embeddingBytes };
  const head = { component: 'head', bytes: problem.headBytes };
  const layers = Array.from({ length: units }, (_, unit) => {
    const ends = (unit === 0 ? embedding.bytes : 0) + (unit === units - 1 ? head.bytes : 0);
    return { component: `layer ${layerAt[unit]}`, bytes: bytes[(unit + 1) * width + unit]! - ends };
  });
  const besideLayers =
    units === 1
      ? []
      : [
          { ...embedding, bytes: bytes[width]! },
          { ...head, bytes: bytes[units * width + units - 1]! },
        ];
  const tooLarge = [embedding, head, ...layers, ...besideLayers].find((part) => part.bytes > roomOn(node));
  if (!tooLarge) return undefined;
  return {
    kind: 'no-node-fits-component',
    component: tooLarge.component,
    needed: tooLarge.bytes + node.overhead,
    available: Math.max(0, node.usable),
    node,
  };
}

/** A constraint without which there would be a placement, or all of them together. */
function constraintFault(problem: PlacementProblem): PlacementFault | undefined {
  const { maxSecondsPerToken: allowed, ...patient } = problem;
  const fastest = fastestPlacement(problem);
  if (fastest && allowed !== undefined) {
    const reason = `the fastest placement takes ${secondsText(fastest.secondsPerToken)} per token, more than the ${secondsText(allowed)} asked for: allow more, or add faster nodes`;
    return { kind: 'infeasible-constraints', field: constraintFields.maxSeconds, reason };
  }
  const free = {
    maxStages: { maxStages: problem.nodes.length },
    layerCaps: { nodes: problem.nodes.map(({ maxLayers: _, ...node }) => node) },
    pins: { pins: new Map() },
    minStages: { minStages: 1 },
  };
  const everything = { ...free.maxStages, ...free.layerCaps, ...free.pins, ...free.minStages };
  if (!hasPlan({ ...patient, ...everything })) return undefined;
  for (const [name, freed] of Object.entries(free) as [keyof typeof free, Partial<PlacementProblem>][]) {
    if (!hasPlan({ ...patient, ...freed })) continue;
    return { kind: 'infeasible-constraints', field: constraintFields[name], reason: bindingReason[name](problem) };
  }
  const reason =
    'the model fits, but not within all the constraints together: relax the bounds on stages, the caps on layers or the pins';
  return { kind: 'infeasible-constraints', field: 'automatic.constraints', reason };
}

const bindingReason = {
  maxStages: ({ maxStages }: PlacementProblem) =>
    `the model fits on more nodes, but not in ${maxStages} stages: allow more of them`,
  layerCaps: () => 'the model fits, but not within the caps on layers: raise them, or add nodes',
  pins: () => 'the model fits, but not with the pinned stages where they are: pin fewer of them',
  minStages: ({ minStages }: PlacementProblem) =>
    `the model fits on fewer nodes, but not in ${minStages} stages: ask for fewer`,
};

function memoryFault(grid: SearchGrid): PlacementFault {
  const attempt = minLatency.attempt(grid);
  if (!attempt) {
    const reason =
      'the bounds on stages, the caps on layers, the pins and the cuts of the model leave no split: relax one of them';
    return { kind: 'infeasible-constraints', field: 'automatic.constraints', reason };
  }
  const nearest = placementOf(grid, attempt);
  return {
    kind: 'insufficient-memory',
    needed: nearest.stages.reduce((sum, { bytes }) => sum + bytes, 0),
    available: nearest.stages.reduce((sum, { node }) => sum + Math.max(0, node.usable), 0),
    shortfalls: shortfallsOf(nearest),
  };
}

/** One sentence that names the thing and says what to do next. */
export function placementFaultText(fault: PlacementFault): string {
  switch (fault.kind) {
    case 'infeasible-constraints':
      return fault.reason;
    case 'no-node-fits-component': {
      const { component, needed, available, node } = fault;
      const short = formatBytes(needed - node.usable);
      return (
        `the ${component} needs ${formatBytes(needed)} on one node; the roomiest, "${node.name}", can give ` +
        `${formatBytes(available)}: give it ${short} more, add a larger node, or lower the headroom`
      );
    }
    case 'insufficient-memory': {
      const { needed, available, shortfalls } = fault;
      const names = shortfalls.length === 1 ? 'one node is' : `${shortfalls.length} nodes are`;
      return (
        `the model needs ${formatBytes(needed)} and its nodes can give ${formatBytes(available)}, ${names} short at the ` +
        'best split: free memory, add nodes, or ask for a shorter context'
      );
    }
  }
}
