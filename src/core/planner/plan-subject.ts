import type { PlanNumbers } from './model-rules.js';
import type { WholeRunPlan } from './read-run-plan.js';

/** A plan arranged for the rules. */
export interface PlanSubject extends PlanNumbers {
  plan: WholeRunPlan;
}

export function planSubject(plan: WholeRunPlan): PlanSubject {
  return {
    plan,
    stageCount: plan.stages.length,
    numLayers: plan.model.numLayers,
    hiddenDim: BigInt(plan.model.hiddenDim),
    dtypeWidthBytes: BigInt(plan.model.dtypeWidthBytes),
    maxSeqLen: BigInt(plan.model.maxSeqLen),
    rings: plan.edges.map(({ ringSpec }, position) => ({
      field: `edges[${position}].ring_spec`,
      ...ringSpec,
    })),
  };
}
