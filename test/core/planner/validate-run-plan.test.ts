import { describe, expect, it } from 'vitest';
import type { GgufSource } from '../../../gen/stageplane/v1/model.js';
import type { ObjectSpec, RunPlan, ShapeRule } from '../../../gen/stageplane/v1/plan.js';
import { planRejectionKindToJSON } from '../../../gen/stageplane/v1/rejection.js';
import { validateRunPlan } from '../../../src/core/planner/validate-run-plan.js';
import { fixedLinear, planOf, planToChange, sampleInput } from './sample-input.js';

type Path = readonly string[];

/** Fields that a plan says once: another value of the same type makes another plan, not a wrong one. */
const saidOnce =
  /^(model\.(modelId|eosTokenId|tokenizer\..*)|runtime\..*|maxTokens|edges\.\d+\.ringSpec\.(dataCapacity|direction|hostPinning|wakeCoalescing))$/;
/** Without an activation edge, nothing repeats the width of an activation row. */
const saidOnceByOneStage = new RegExp(`${saidOnce.source}|^model\\.(hiddenDim|dtypeWidthBytes)$`);

const gained =
  /^runtime\.(stop|sampling\.(topPMillis|minPMillis|repeatPenaltyMillis|repeatLastN|presencePenaltyMillis|frequencyPenaltyMillis))$/;

const signed = /^runtime\.sampling\.(presence|frequency)PenaltyMillis$/;

const plans: [string, RunPlan, RegExp][] = [
  ['three stages', planOf(sampleInput()), saidOnce],
  ['one stage', planOf(sampleInput({ stageCount: 1, placement: fixedLinear([0, 3n]) })), saidOnceByOneStage],
  ['one node', planOf(sampleInput({ stageCount: 2, placement: fixedLinear([0, 3n], [1, 3n]) })), saidOnce],
];

describe.each(plans)('a plan of %s', (_name, plan, free) => {
  it('is valid as it is', () => expect(validateRunPlan(plan)).toEqual({ kind: 'valid' }));

  it('is refused with any one field set to another value', () => {
    for (const [path, value] of leavesIn(plan)) {
      if (free.test(path.join('.')) && path.at(-1) !== '$case') continue;
      for (const other of otherValues(value)) expectRefused(plan, path, other);
    }
  });

  it('is refused with any one field or message absent or of no type of its own', () => {
    for (const path of pathsIn(plan)) {
      for (const other of [undefined, null, Number.NaN, -1, 1.5, -1n, 2n ** 64n, Symbol('none'), new Date(0)]) {
        // As on the wire, a message without known fields is an empty one.
        if (other instanceof Date && isEmptyMessage(plan, path)) continue;
        // Plans of earlier versions lack what the ABI has gained since.
        if (other === undefined && gained.test(path.join('.'))) continue;
        if (other === -1 && signed.test(path.join('.'))) continue;
        expectRefused(plan, path, other);
      }
    }
  });

  it('is refused with a stage or edge left out, twice there, or in another place', () => {
    for (const name of ['stages', 'edges'] as const) {
      const list = plan[name];
      for (const i of list.keys()) {
        const others: unknown[][] = [list.toSpliced(i, 1), list.toSpliced(i, 0, list[i] as never)];
        if (i > 0) others.push(list.with(i, list[0] as never).with(0, list[i] as never));
        for (const other of others) expectRefused(plan, [name], other);
      }
    }
  });
});

it('says which rule the plan breaks, in the order of the planner', () => {
  const cases: [string, (plan: RunPlan) => unknown, string, string][] = [
    ['a foreign run', (plan) => (plan.stages[1]!.runId = 8n), 'MALFORMED_INPUT', 'stages[1].run_id'],
    ['no stages', (plan) => (plan.stages = []), 'INVALID_STAGE_COUNT', 'stages'],
    ['a wrong count', (plan) => (plan.stages[2]!.stageCount = 4), 'INVALID_STAGE_COUNT', 'stages[2].stage_count'],
    ['few layers', (plan) => (plan.model!.numLayers = 2), 'MODEL_STAGE_LAYOUT_MISMATCH', 'model.num_layers'],
    ['no tokens', (plan) => (plan.model!.maxSeqLen = 0), 'INVALID_OBJECT_SPEC', 'model.max_seq_len'],
    ['no rows', (plan) => (plan.model!.hiddenDim = 0), 'UNSUPPORTED_SHAPE_OR_LAYOUT', 'model.hidden_dim'],
    [
      'an odd ring',
      (plan) => (plan.edges[1]!.ringSpec!.alignment = 3),
      'INVALID_RING_SPEC',
      'edges[1].ring_spec.alignment',
    ],
    [
      'a stage twice',
      (plan) => (plan.stages[2]!.stageIndex = 1),
      'DUPLICATE_STAGE_ASSIGNMENT',
      'stages[2].stage_index',
    ],
    ['stages reversed', (plan) => plan.stages.reverse(), 'MISSING_STAGE', 'stages[0].stage_index'],
    ['a gap', (plan) => (plan.stages[1]!.layerStart = 4), 'MODEL_STAGE_LAYOUT_MISMATCH', 'stages[1].layer_start'],
    [
      'another file',
      (plan) => (plan.stages[1]!.ggufSource = file('x')),
      'MODEL_STAGE_LAYOUT_MISMATCH',
      'stages[1].gguf_source',
    ],
    ['another node', (plan) => (plan.stages[1]!.nodeId = 9n), 'EDGE_ENDPOINT_MISMATCH', 'edges[1].consumer'],
    ['an edge twice', (plan) => (plan.edges[2]!.edgeId = 2n), 'EDGE_ENDPOINT_MISMATCH', 'edges[2].edge_id'],
    ['no last edge', (plan) => plan.edges.pop(), 'EDGE_ENDPOINT_MISMATCH', 'edges'],
    ['an extent', (plan) => (specOf(plan).maxExtent = 1n), 'INVALID_OBJECT_SPEC', 'edges[1].object_spec.max_extent'],
    ['a shape', (plan) => (specOf(plan).shape = tokenIds), 'UNSUPPORTED_SHAPE_OR_LAYOUT', 'edges[1].object_spec.shape'],
    [
      'a token ring',
      (plan) => (plan.edges[0]!.ringSpec!.dataCapacity = 551n),
      'INVALID_RING_SPEC',
      'edges[0].ring_spec.data_capacity',
    ],
  ];
  for (const [defect, spoil, kind, field] of cases) {
    const plan = planToChange(sampleInput());
    spoil(plan);
    const outcome = validateRunPlan(plan);
    const rejection = outcome.kind === 'rejected' ? outcome.rejection : undefined;
    expect(rejection && planRejectionKindToJSON(rejection.kind), defect).toBe(`PLAN_REJECTION_KIND_${kind}`);
    expect(rejection?.violations[0]?.field, defect).toBe(field);
  }
});

it('takes rings that differ from edge to edge', () => {
  const plan = planToChange(sampleInput());
  for (const [i, { ringSpec }] of plan.edges.entries()) ringSpec!.dataCapacity = 10_000n + BigInt(i);
  expect(validateRunPlan(plan)).toEqual({ kind: 'valid' });
});

const tokenIds: ShapeRule = { rule: { $case: 'tokenIds', value: {} } };

function file(value: string): GgufSource {
  return { source: { $case: 'localPath', value } };
}

function specOf(plan: RunPlan): ObjectSpec {
  return plan.edges[1]!.objectSpec!;
}

function expectRefused(plan: RunPlan, path: Path, value: unknown): void {
  const outcome = validateRunPlan(replaced(plan, path, value) as RunPlan);
  expect(outcome.kind, `${path.join('.')} = ${String(value)}`).toBe('rejected');
}

function otherValues(value: unknown): unknown[] {
  if (typeof value === 'number') return [value + 1, value - 1, 2 ** 32 - 1];
  if (typeof value === 'bigint') return [value + 1n, value - 1n, 2n ** 64n - 1n];
  return [`${value}x`, ''];
}

function isEmptyMessage(plan: RunPlan, path: Path): boolean {
  const value = path.reduce<unknown>((inner, key) => Reflect.get(inner as object, key), plan);
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function leavesIn(value: unknown, at: Path = []): [Path, unknown][] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [[at, value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesIn(inner, [...at, key]));
}

function pathsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...at, key]))];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  Reflect.set(copy, key, replaced(Reflect.get(copy, key), rest, by));
  return copy;
}
