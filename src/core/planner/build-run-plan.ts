import { EdgeKind, type EdgePlan, type RunPlan, type StagePlan } from '../../../gen/stageplane/v1/plan.js';
import { activationObjectSpec, type ObjectDimensions, tokenObjectSpec, tokenRingFloor } from './edge-specs.js';
import { edgeAt } from './edge-topology.js';
import { type LayerRange, layersOfStage } from './layers-of-stage.js';
import type { Placement, PlanningDraft } from './planning-draft.js';
import type { WholeRingSpec } from './read-edge.js';

/** The plan of a draft that holds to every planner rule. What several places of the plan say alike, they share. */
export function buildRunPlan(draft: PlanningDraft): RunPlan {
  const { input, stageCount } = draft;
  const { prompt, sampling, tokenOutputPolicy, stop } = input.runtime;
  const model = modelPlan(draft);
  const placements: Placement[] = [];
  for (let stage = 0; stage < stageCount; stage++) placements.push(draft.placements[draft.positionOf(stage)!]!);
  const edges = edgePlans(draft, model, placements);
  return {
    runId: input.runId,
    model,
    runtime: { prompt, sampling, tokenOutputPolicy, stop },
    stages: stagePlans(draft, placements, edges),
    edges,
    maxTokens: input.runtime.maxTokens,
  };
}

function modelPlan({ input: { model } }: PlanningDraft) {
  return {
    modelId: model.modelId,
    ggufSource: model.ggufSource,
    numLayers: model.numLayers,
    hiddenDim: Number(model.hiddenDim),
    dtypeFamily: model.dtypeFamily,
    dtypeWidthBytes: Number(model.dtypeWidthBytes),
    maxSeqLen: Number(model.maxSeqLen),
    eosTokenId: model.eosTokenId,
    tokenizer: model.tokenizer,
  };
}

function stagePlans(draft: PlanningDraft, placements: readonly Placement[], edges: readonly EdgePlan[]): StagePlan[] {
  const { runId, model } = draft.input;
  const stageCount = placements.length;
  return placements.map((placement, stageIndex) => {
    const layers = layersOf(placement) ?? layersOfStage(model.numLayers, stageCount, stageIndex);
    return {
      runId,
      stageIndex,
      stageCount,
      nodeId: placement.nodeId,
      ggufSource: model.ggufSource,
      layerStart: layers.start,
      layerEndExclusive: layers.endExclusive,
      inboundEdge: edges[stageIndex]!.edgeId,
      outboundEdge: edges[stageIndex + 1]!.edgeId,
    };
  });
}

/** The layers that a placement names; undefined when they are spread evenly. */
function layersOf(placement: Placement): LayerRange | undefined {
  if (!('layerStart' in placement)) return undefined;
  return { start: placement.layerStart, endExclusive: placement.layerEndExclusive };
}

function edgePlans({ input }: PlanningDraft, model: ObjectDimensions, placements: readonly Placement[]): EdgePlan[] {
  const { runId, orchestratorNodeId } = input;
  const token = { objectSpec: tokenObjectSpec(model), ringSpec: tokenRing(input.tokenRing, model) };
  const activation = { objectSpec: activationObjectSpec(model), ringSpec: input.activationRing };
  const edges: EdgePlan[] = [];
  for (let position = 0; position <= placements.length; position++) {
    const { edgeId, kind, producer, consumer } = edgeAt(position, orchestratorNodeId, placements);
    const { objectSpec, ringSpec } = kind === EdgeKind.EDGE_KIND_ACTIVATION ? activation : token;
    edges.push({ runId, edgeId, kind, producer, consumer, objectSpec, ringSpec });
  }
  return edges;
}

function tokenRing(asked: WholeRingSpec, { maxSeqLen }: ObjectDimensions): WholeRingSpec {
  const floor = tokenRingFloor(maxSeqLen);
  return asked.dataCapacity < floor ? { ...asked, dataCapacity: floor } : asked;
}
