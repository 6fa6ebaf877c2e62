import type { NoValidPlanHint } from '../../../gen/stageplane/v1/planner.js';
import { formatBytes } from '../format-bytes.js';
import { hasPlan } from './has-plan.js';
import { nearestMiss } from './nearest-miss.js';
import type { PlacementProblem } from './placement-problem.js';

/** Something else that a launcher could ask for, such as a shorter context. */
export interface Relaxation {
  /** A change in the imperative: "ask for a context of 4096 tokens". */
  readonly text: string;
  readonly problem: PlacementProblem;
}

/**
 * The smallest change that would have made a plan, of a problem that has none: memory on one node, and the first of the
 * relaxations, in the order given, that really yields a plan. Undefined when nothing of that does.
 */
export function noPlanHint(
  problem: PlacementProblem,
  relaxations: Iterable<Relaxation> = [],
): NoValidPlanHint | undefined {
  const miss = nearestMiss(problem);
  const relaxation = firstThatHelps(relaxations)?.text ?? '';
  if (!miss && !relaxation) return undefined;
  const memory = miss && `give node "${miss.node.name}" ${formatBytes(miss.bytes)} (${miss.bytes} bytes) more`;
  return {
    text: `there would be a plan: ${[memory, relaxation].filter(Boolean).join(', or ')}`,
    nodeId: miss?.node.nodeId ?? 0n,
    deficitBytes: BigInt(miss?.bytes ?? 0),
    relaxation,
  };
}

function firstThatHelps(relaxations: Iterable<Relaxation>): Relaxation | undefined {
  for (const relaxation of relaxations) if (hasPlan(relaxation.problem)) return relaxation;
  return undefined;
}
