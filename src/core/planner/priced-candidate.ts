import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { CandidateStatus, EstimateBasis, type PlanCandidate } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import type { MemoryModel, NoMemoryModel } from '../model/memory-model.js';
import { hopSeconds, speedOf } from './node-speed.js';
import { nodesById, type PoolNode } from './pool-node.js';
import { breakdownOf } from './stage-pricing.js';

interface GivenPlan {
  readonly plan: RunPlan;
  readonly placed: { readonly strategy: string };
  readonly settings: StageSettings;
  readonly priced: MemoryModel | NoMemoryModel;
}

/** A placement that was not searched for, as the one candidate that there is. */
export function pricedCandidate(
  { plan, placed, settings, priced }: GivenPlan,
  pool: readonly PoolNode[],
): PlanCandidate {
  const bare = {
    name: placed.strategy,
    strategy: placed.strategy,
    stageCount: plan.stages.length,
    status: CandidateStatus.CANDIDATE_STATUS_SELECTED,
    reasons: [],
  };
  if (priced.kind === 'unknown') {
    return { ...bare, memory: [], secondsPerToken: undefined, tokensPerSecond: undefined, profilingRequired: false };
  }
  const nodes = nodesById(pool);
  const runs = plan.stages.flatMap(({ nodeId, layerStart, layerEndExclusive }) => {
    const node = nodes.get(nodeId);
    if (!node) return [];
    const speed = speedOf(node, settings);
    const seconds = priced.readPerToken(layerStart, layerEndExclusive) / speed.bytesPerSecond + hopSeconds(node);
    return [{ seconds, ...speed }];
  });
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const note = [...new Set(runs.map((run) => run.note))].slice(0, 3).join('; ');
  const estimate = (value: number, unit: string) => ({ value, unit, basis: EstimateBasis.ESTIMATE_BASIS_STATIC, note });
  return {
    ...bare,
    memory: breakdownOf(priced, plan.stages),
    secondsPerToken: estimate(seconds, 'seconds'),
    tokensPerSecond: seconds > 0 ? estimate(1 / seconds, 'tokens/s') : undefined,
    profilingRequired: runs.some(({ profilingRequired }) => profilingRequired),
  };
}

/** A placement that cannot be, with the sentence that says why. */
export function infeasibleCandidate(strategy: string, stageCount: number, { message }: PlanRejection): PlanCandidate {
  return {
    name: strategy,
    strategy,
    stageCount,
    status: CandidateStatus.CANDIDATE_STATUS_INFEASIBLE,
    memory: [],
    secondsPerToken: undefined,
    tokensPerSecond: undefined,
    profilingRequired: false,
    reasons: [message],
  };
}
