import type { RunPlan, StagePlan } from '../../../gen/stageplane/v1/plan.js';
import { edgePlan } from './read-edge.js';
import { field, isMessage, list, type Reader, unset, type Whole } from './read-message.js';
import { ggufSource, modelPlan } from './read-model.js';
import { runtimePlan } from './read-runtime.js';
import { u32, u64 } from './read-scalar.js';

const stagePlan = ((value, faults) => {
  if (!isMessage<StagePlan>(value)) return unset(faults);
  return {
    runId: field('run_id', u64, value.runId, faults),
    stageIndex: field('stage_index', u32, value.stageIndex, faults),
    stageCount: field('stage_count', u32, value.stageCount, faults),
    nodeId: field('node_id', u64, value.nodeId, faults),
    ggufSource: field('gguf_source', ggufSource, value.ggufSource, faults),
    layerStart: field('layer_start', u32, value.layerStart, faults),
    layerEndExclusive: field('layer_end_exclusive', u32, value.layerEndExclusive, faults),
    inboundEdge: field('inbound_edge', u64, value.inboundEdge, faults),
    outboundEdge: field('outbound_edge', u64, value.outboundEdge, faults),
  };
}) satisfies Reader<Required<StagePlan>>;

const stages = list(stagePlan);
const edges = list(edgePlan);

export const runPlan = ((value, faults) => {
  if (!isMessage<RunPlan>(value)) return unset(faults);
  return {
    runId: field('run_id', u64, value.runId, faults),
    model: field('model', modelPlan, value.model, faults),
    runtime: field('runtime', runtimePlan, value.runtime, faults),
    stages: field('stages', stages, value.stages, faults),
    edges: field('edges', edges, value.edges, faults),
    maxTokens: field('max_tokens', u32, value.maxTokens, faults),
  };
}) satisfies Reader<Required<RunPlan>>;

export type WholeRunPlan = Whole<typeof runPlan>;
