import type { PlacementProblem } from './placement-problem.js';

/** Constraints that contradict each other, the pool or the model's cuts, whatever memory there is. */
export interface ConstraintConflict {
  /** Path of the field in the request. */
  readonly field: string;
  /** One sentence that says what to do next. */
  readonly reason: string;
}

export const constraintFields = {
  minStages: 'automatic.constraints.min_stages',
  maxStages: 'automatic.constraints.max_stages',
  layerCaps: 'automatic.constraints.layer_caps',
  pins: 'automatic.constraints.pins',
  maxSeconds: 'automatic.constraints.max_microseconds_per_token',
  pool: 'pool',
} as const;

export function constraintConflict(problem: PlacementProblem): ConstraintConflict | undefined {
  return poolConflict(problem) ?? stageConflict(problem) ?? pinConflict(problem) ?? capConflict(problem);
}

function poolConflict({ nodes }: PlacementProblem): ConstraintConflict | undefined {
  if (nodes.length > 0) return undefined;
  return { field: constraintFields.pool, reason: 'no node can take a stage: start an agent, or exclude fewer nodes' };
}

function stageConflict({ minStages, maxStages, nodes, numLayers, starts }: PlacementProblem) {
  if (maxStages < minStages) {
    const reason = `max_stages is ${maxStages}, fewer than the ${minStages} stages that there must be: raise it`;
    return { field: constraintFields.maxStages, reason };
  }
  if (minStages > nodes.length) {
    const reason = `${minStages} stages need ${minStages} nodes, ${nodes.length} can take one: ask for fewer stages, or start more agents`;
    return { field: constraintFields.minStages, reason };
  }
  const mostStages = starts ? starts.length + 1 : numLayers;
  if (minStages > mostStages) {
    const reason = `the model can be cut into at most ${mostStages} stages, fewer than the ${minStages} asked for: ask for fewer`;
    return { field: constraintFields.minStages, reason };
  }
  return undefined;
}

function pinConflict({ pins, nodes, maxStages, starts, numLayers }: PlacementProblem): ConstraintConflict | undefined {
  const field = constraintFields.pins;
  const most = Math.min(maxStages, nodes.length, starts ? starts.length + 1 : numLayers);
  const free = new Map<bigint, number>();
  for (const { nodeId } of nodes) free.set(nodeId, (free.get(nodeId) ?? 0) + 1);
  const names = new Map<bigint, string>(nodes.map((node) => [node.nodeId, node.name]));
  for (const [stage, nodeId] of pins) {
    if (stage >= most) {
      return { field, reason: `stage ${stage} is pinned, but there can be only ${most} stages: pin a lower one` };
    }
    const places = free.get(nodeId);
    if (places === undefined) {
      return { field, reason: `stage ${stage} is pinned to node ${nodeId}, which can take no stage: pin it elsewhere` };
    }
    if (places === 0) {
      const name = names.get(nodeId);
      return { field, reason: `node "${name}" has no device left for stage ${stage}: pin it to another node` };
    }
    free.set(nodeId, places - 1);
  }
  return undefined;
}

function capConflict({ nodes, maxStages, numLayers }: PlacementProblem): ConstraintConflict | undefined {
  const caps = nodes.map(({ maxLayers }) => Math.min(maxLayers ?? numLayers, numLayers)).sort((a, b) => b - a);
  const most = caps.slice(0, maxStages).reduce((sum, layers) => sum + layers, 0);
  if (most >= numLayers) return undefined;
  const reason = `the nodes may take ${most} layers together, the model has ${numLayers}: raise the caps on layers, or add nodes`;
  return { field: constraintFields.layerCaps, reason };
}
