import { GgufSource } from '../../../gen/stageplane/v1/model.js';
import { EdgeKind, type EdgePlan, type RunPlan, type StagePlan } from '../../../gen/stageplane/v1/plan.js';
import { activationObjectSpec, type ObjectDimensions, tokenObjectSpec, tokenRingFloor } from './edge-specs.js';
import { edgeTopology, inboundEdgeOf, outboundEdgeOf } from './edge-topology.js';
import { layersOfStage } from './layers-of-stage.js';
import type { Placement, PlanningDraft } from './planning-draft.js';

/** The plan of a draft that holds to every planner rule. No two places of the plan share an object. */
export function buildRunPlan(draft: PlanningDraft): RunPlan {
  const { input, byStage, stageCount } = draft;
  const placements = Array.from({ length: stageCount }, (_, stageIndex) => byStage.get(stageIndex)!);
  const model = {
    ...input.model,
    hiddenDim: Number(draft.hiddenDim),
    dtypeWidthBytes: Number(draft.dtypeWidthBytes),
    maxSeqLen: Number(draft.maxSeqLen),
  };
  const { maxTokens, ...runtime } = input.runtime;
  return {
    runId: input.runId,
    model,
    runtime,
    stages: placements.map((placement) => stagePlan(draft, placement)),
    edges: edgePlans(draft, model, placements),
    maxTokens,
  };
}

function stagePlan({ input, stageCount, numLayers }: PlanningDraft, placement: Placement): StagePlan {
  const { stageIndex, nodeId } = placement;
  const layers = placement.range ?? layersOfStage(numLayers, stageCount, stageIndex);
  return {
    runId: input.runId,
    stageIndex,
    stageCount,
    nodeId,
    ggufSource: GgufSource.fromPartial(input.model.ggufSource),
    layerStart: layers.start,
    layerEndExclusive: layers.endExclusive,
    inboundEdge: inboundEdgeOf(stageIndex),
    outboundEdge: outboundEdgeOf(stageIndex),
  };
}

function edgePlans({ input }: PlanningDraft, model: ObjectDimensions, placements: readonly Placement[]): EdgePlan[] {
  const floor = tokenRingFloor(model.maxSeqLen);
  const tokenRing = { ...input.tokenRing };
  if (tokenRing.dataCapacity < floor) tokenRing.dataCapacity = floor;
  const stageNodes = placements.map(({ nodeId }) => nodeId);
  return edgeTopology(input.orchestratorNodeId, stageNodes).map((edge) => {
    const activation = edge.kind === EdgeKind.EDGE_KIND_ACTIVATION;
    return {
      runId: input.runId,
      ...edge,
      objectSpec: activation ? activationObjectSpec(model) : tokenObjectSpec(model),
      ringSpec: { ...(activation ? input.activationRing : tokenRing) },
    };
  });
}
