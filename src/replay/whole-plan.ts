import type { RunPlan } from '../../gen/stageplane/v1/plan.js';
import type { PlannerInput } from '../../gen/stageplane/v1/planner.js';
import type { ProvisionStage, StageSettings } from '../../gen/stageplane/v1/provision.js';
import { ORCHESTRATOR_NODE_ID } from '../core/ids.js';
import { defaultActivationRing, defaultTokenRing } from '../core/planner/default-rings.js';
import { deriveStageProvision } from '../core/planner/derive-stage-provision.js';
import { planRun } from '../core/planner/plan-run.js';

/** The node of the one stage; any but the orchestrator's. */
const NODE = 2n;

export type WholePlan =
  | { readonly kind: 'planned'; readonly plan: RunPlan; readonly provision: ProvisionStage }
  /** `message` is the planner's sentence. */
  | { readonly kind: 'rejected'; readonly message: string };

/** What a run would be as one stage with all layers, by the planner itself: same model, prompt and sampling. */
export function wholePlan({ runId, model, runtime }: RunPlan, settings: StageSettings): WholePlan {
  const facts = model && {
    ...model,
    hiddenDim: BigInt(model.hiddenDim),
    dtypeWidthBytes: BigInt(model.dtypeWidthBytes),
    maxSeqLen: BigInt(model.maxSeqLen),
  };
  const input: PlannerInput = {
    runId,
    orchestratorNodeId: ORCHESTRATOR_NODE_ID,
    model: facts,
    runtime: runtime && { ...runtime, maxTokens: 0 },
    candidatePool: [NODE],
    stageCount: 1,
    placement: {
      placement: {
        $case: 'fixedLinear',
        value: { stages: [{ stageIndex: 0, nodeId: NODE }], activationEdges: [] },
      },
    },
    activationRing: facts && defaultActivationRing(facts, settings),
    tokenRing: defaultTokenRing(settings),
  };
  const planned = planRun(input);
  if (planned.kind === 'rejected') return { kind: 'rejected', message: planned.rejection.message };
  const projected = deriveStageProvision(planned.plan, 0);
  if (projected.kind === 'rejected') return { kind: 'rejected', message: projected.rejection.message };
  return { kind: 'planned', plan: planned.plan, provision: projected.provision };
}
