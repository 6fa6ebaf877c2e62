import { describe, expect, it } from 'vitest';
import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import type { PlacementInput, PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import { type PlanRejection, planRejectionKindToJSON } from '../../../gen/stageplane/v1/rejection.js';
import { deriveStageProvision } from '../../../src/core/planner/derive-stage-provision.js';
import { planRun } from '../../../src/core/planner/plan-run.js';
import { plannerRules } from '../../../src/core/planner/planner-rules.js';
import { fixedLinear, layerRanges, planOf, sampleInput, sampleRing } from './sample-input.js';

/** What is wrong, in the planner's order of checks: kind, field and sentence of each. */
const rejections: [change: Partial<PlannerInput>, kind: string, field: string, sentence: string][] = [
  [{ runtime: undefined }, 'MALFORMED_INPUT', 'runtime', 'runtime is unset: set it'],
  [
    { placement: { placement: undefined } },
    'MALFORMED_INPUT',
    'placement',
    'placement is unset: set fixed_linear or layer_ranges',
  ],
  [
    model({ ggufSource: { source: undefined } }),
    'MALFORMED_INPUT',
    'model.gguf_source',
    'model.gguf_source is unset: set local_path or hugging_face',
  ],
  [
    model({ dtypeFamily: 9 as never }),
    'MALFORMED_INPUT',
    'model.dtype_family',
    'model.dtype_family is 9, which is no known value: set DTYPE_FAMILY_BFLOAT or DTYPE_FAMILY_FLOAT',
  ],
  [
    { activationRing: { ...sampleRing(1n), direction: -1 } },
    'MALFORMED_INPUT',
    'activation_ring.direction',
    'activation_ring.direction is -1, which is no known value: set RING_DIRECTION_INGRESS or RING_DIRECTION_EGRESS',
  ],
  [
    { stageCount: Number.NaN },
    'MALFORMED_INPUT',
    'stage_count',
    'stage_count is NaN: give a whole number from 0 to 4294967295',
  ],
  [
    { placement: fixedLinear([0, 2n], [1, -1n]) },
    'MALFORMED_INPUT',
    'placement.fixed_linear.stages[1].node_id',
    'placement.fixed_linear.stages[1].node_id is negative: give a bigint from 0 to 2^64-1',
  ],
  [
    { stageCount: 0 },
    'INVALID_STAGE_COUNT',
    'stage_count',
    'the run has no stages: ask for at least one in stage_count',
  ],
  [
    model({ numLayers: 2 }),
    'MODEL_STAGE_LAYOUT_MISMATCH',
    'model.num_layers',
    'the model has 2 layers, too few for 3 stages: ask for at most 2 stages',
  ],
  [model({ maxSeqLen: 0n }), 'INVALID_OBJECT_SPEC', 'model.max_seq_len', 'model.max_seq_len is 0: give at least 1'],
  [
    model({ hiddenDim: 0n }),
    'UNSUPPORTED_SHAPE_OR_LAYOUT',
    'model.hidden_dim',
    'model.hidden_dim is 0: give the width of one activation row, at least 1',
  ],
  [
    { tokenRing: sampleRing(0n) },
    'INVALID_RING_SPEC',
    'token_ring.data_capacity',
    'token_ring.data_capacity is 0: give the ring at least 1 byte',
  ],
  [
    { activationRing: sampleRing(1n, 48) },
    'INVALID_RING_SPEC',
    'activation_ring.alignment',
    'activation_ring.alignment is 48, which is no power of two: give 1, 2, 4, ...',
  ],
  [
    { placement: fixedLinear([0, 2n], [1, 9n], [2, 4n]) },
    'UNKNOWN_NODE',
    'placement.fixed_linear.stages[1].node_id',
    'stage 1 is placed on node 9, which is not in the candidate pool: place it on a node of the pool, or add the node',
  ],
  [
    { placement: layerRanges([0, 2n, 0, 5], [0, 3n, 5, 10]) },
    'DUPLICATE_STAGE_ASSIGNMENT',
    'placement.layer_ranges.stages[1].stage_index',
    'stage 0 is already placed by placement.layer_ranges.stages[0]: remove one of the two',
  ],
  [
    { placement: fixedLinear([0, 2n], [2, 4n]) },
    'MISSING_STAGE',
    'placement.fixed_linear.stages',
    'stage 1 of 0..2 has no placement: add it to placement.fixed_linear.stages, or lower stage_count',
  ],
  [
    { placement: layerRanges([0, 2n, 0, 4], [1, 3n, 6, 8], [2, 4n, 8, 10]) },
    'MODEL_STAGE_LAYOUT_MISMATCH',
    'placement.layer_ranges.stages[1].layer_start',
    'stage 1 starts at layer 6 and leaves out layers 4 to 5: start it at 4',
  ],
  [
    { placement: layerRanges([2, 4n, 8, 10], [1, 3n, 3, 8], [0, 2n, 0, 4]) },
    'MODEL_STAGE_LAYOUT_MISMATCH',
    'placement.layer_ranges.stages[1].layer_start',
    'stage 1 starts at layer 3, but earlier stages reach up to 4: start it at 4',
  ],
  [
    { placement: layerRanges([0, 2n, 0, 4], [1, 3n, 4, 4], [2, 4n, 4, 10]) },
    'MODEL_STAGE_LAYOUT_MISMATCH',
    'placement.layer_ranges.stages[1].layer_end_exclusive',
    'stage 1 has no layers in [4, 4): end it after its first layer',
  ],
  [
    { placement: layerRanges([0, 2n, 0, 4], [1, 3n, 4, 8], [2, 4n, 8, 11]) },
    'MODEL_STAGE_LAYOUT_MISMATCH',
    'placement.layer_ranges.stages[2].layer_end_exclusive',
    'stage 2 is the last and ends at layer 11, but the model has 10: end it at 10',
  ],
  [
    { placement: withEdges([0, 1], [2, 1]) },
    'EDGE_ENDPOINT_MISMATCH',
    'placement.fixed_linear.activation_edges[1]',
    'activation edge 1 goes from stage 2 to stage 1: it must go from stage 1 to stage 2; correct it, or leave ' +
      'activation_edges empty',
  ],
  [
    { placement: withEdges([0, 1]) },
    'EDGE_ENDPOINT_MISMATCH',
    'placement.fixed_linear.activation_edges',
    'the number of activation edges is 1, but must be 2: list exactly those between the stages, or leave ' +
      'activation_edges empty',
  ],
  [
    model({ hiddenDim: 2n ** 32n }),
    'UNSUPPORTED_SHAPE_OR_LAYOUT',
    'model.hidden_dim',
    'model.hidden_dim is 4294967296, more than a shape can say: give at most 4294967295',
  ],
  [
    model({ dtypeWidthBytes: 2n ** 64n - 1n }),
    'INVALID_OBJECT_SPEC',
    'model.dtype_width_bytes',
    'model.dtype_width_bytes is 18446744073709551615, more than an object spec can say: give at most 4294967295',
  ],
  [
    model({ maxSeqLen: 2n ** 32n - 1n, hiddenDim: 2n ** 32n - 1n }),
    'INVALID_OBJECT_SPEC',
    'model',
    'one activation object would take 73786976260478468100 bytes, more than 2^64-1: lower max_seq_len, hidden_dim or ' +
      'dtype_width_bytes',
  ],
];

describe('a rejection names the thing and says what to do', () => {
  it.each(rejections)('%#: %s', (change, kind, field, sentence) => {
    const rejection = rejectionOf(sampleInput(change));
    expect(planRejectionKindToJSON(rejection.kind)).toBe(`PLAN_REJECTION_KIND_${kind}`);
    expect(rejection.message).toBe(sentence);
    expect(rejection.violations[0]).toEqual({ field, message: sentence });
  });
});

it('the earlier of two broken rules decides, whichever two they are', () => {
  const ofRules = rejections.filter(([change]) => Object.keys(change).length === 1);
  for (const [i, [earlier, kind]] of ofRules.entries()) {
    for (const [later] of ofRules.slice(i + 1)) {
      // A change of the same field would undo the other one.
      if (Object.keys(earlier)[0] === Object.keys(later)[0]) continue;
      const rejection = rejectionOf(sampleInput({ ...later, ...earlier }));
      expect(planRejectionKindToJSON(rejection.kind)).toBe(`PLAN_REJECTION_KIND_${kind}`);
    }
  }
});

it('every kind in the table of rules is seen above, and no rule decides for MALFORMED_INPUT', () => {
  const decided = new Set(plannerRules.flatMap(({ decides }) => decides.map(planRejectionKindToJSON)));
  const seen = new Set(rejections.map(([, kind]) => `PLAN_REJECTION_KIND_${kind}`));
  expect([...seen].filter((kind) => !decided.has(kind))).toEqual(['PLAN_REJECTION_KIND_MALFORMED_INPUT']);
  expect([...decided].filter((kind) => !seen.has(kind))).toEqual([]);
});

it('violations are those of the deciding kind alone, 16 at most', () => {
  const mixed = fixedLinear([0, 9n], [0, 2n], [1, 8n], [2, 4n]);
  expect(rejectionOf(sampleInput({ placement: mixed })).violations.map(({ field }) => field)).toEqual([
    'placement.fixed_linear.stages[0].node_id',
    'placement.fixed_linear.stages[2].node_id',
  ]);
  const many = fixedLinear(...Array.from({ length: 40 }, (_, i): [number, bigint] => [i, 9n]));
  expect(rejectionOf(sampleInput({ placement: many })).violations).toHaveLength(16);
});

it('activation edges that are given right, and explicit ranges in any order, are planned', () => {
  expect(planOf(sampleInput({ placement: withEdges([0, 1], [1, 2]) }))).toEqual(planOf(sampleInput()));
  const plan = planOf(
    sampleInput({ placement: layerRanges([2, 4n, 9, 10], [0, 2n, 0, 1], [7, 3n, 5, 5], [1, 3n, 1, 9]) }),
  );
  expect(plan.stages.map(({ layerStart, layerEndExclusive }) => [layerStart, layerEndExclusive])).toEqual([
    [0, 1],
    [1, 9],
    [9, 10],
  ]);
});

it('a projection says which stage or edge is missing or not whole', () => {
  const plan = planOf(sampleInput());
  const { consumer: _, ...endless } = plan.edges[1]!;
  const broken: [typeof plan, number, string][] = [
    [plan, 3, 'the plan has no stage 3: ask for one that it lists'],
    [
      { ...plan, edges: plan.edges.slice(1) },
      0,
      'the plan has no edge 1, the inbound edge of stage 0: add it to edges',
    ],
    [
      { ...plan, edges: plan.edges.with(1, endless) },
      0,
      'edge 2, the outbound edge of stage 0, is not whole: consumer is unset: set orchestrator or stage',
    ],
    [{ ...plan, model: undefined }, 0, 'stage 0 of the plan is not whole: model is unset: set it'],
  ];
  for (const [value, stageIndex, sentence] of broken) {
    const outcome = deriveStageProvision(value, stageIndex);
    expect(outcome.kind === 'rejected' && outcome.rejection.message).toBe(sentence);
  }
});

function rejectionOf(input: PlannerInput): PlanRejection {
  const outcome = planRun(input);
  if (outcome.kind !== 'rejected') throw new Error('this input has a plan');
  return outcome.rejection;
}

function model(change: Partial<ModelFacts>): Partial<PlannerInput> {
  return { model: { ...sampleInput().model!, ...change } };
}

function withEdges(...edges: [producer: number, consumer: number][]): PlacementInput {
  const { placement } = fixedLinear([0, 2n], [1, 3n], [2, 4n]);
  if (placement?.$case !== 'fixedLinear') throw new Error('not a fixed linear placement');
  const activationEdges = edges.map(([producerStage, consumerStage]) => ({ producerStage, consumerStage }));
  return { placement: { $case: 'fixedLinear', value: { ...placement.value, activationEdges } } };
}
