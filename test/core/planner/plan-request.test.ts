import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type LayerTable, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { StageFeature } from '../../../gen/stageplane/v1/node.js';
import { RuntimeConfig, SamplingPolicy } from '../../../gen/stageplane/v1/plan.js';
import { PlanRequest, RunMode } from '../../../gen/stageplane/v1/planner.js';
import { Fidelity, KvCacheType, StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import { nodeId, runId } from '../../../src/core/ids.js';
import type { ModelCuts } from '../../../src/core/planner/model-cuts.js';
import { planRequest } from '../../../src/core/planner/plan-request.js';
import type { PlanningRequest } from '../../../src/core/planner/planning-request.js';
import type { PoolNode } from '../../../src/core/planner/pool-node.js';
import { sampleFacts } from '../machine/samples.js';

const layers: LayerTable = {
  layers: Array.from({ length: 8 }, (_, index) => ({
    index,
    sizeBytes: BigInt(100 + index),
    tensorCount: 1,
    tensorTypes: ['F32'],
    expertBytes: 0n,
  })),
  embeddingBytes: 50n,
  headBytes: 7n,
  globalBytes: 3n,
  nextTokenPredictionBytes: 0n,
  tied: true,
  totalBytes: 888n,
};
const inspection = ModelInspection.fromPartial({ facts: sampleFacts, layers, digest: 'd'.repeat(64) });

const node = (id: bigint, change: Partial<PoolNode> = {}): PoolNode => ({
  nodeId: nodeId(id),
  name: `node-${id}`,
  engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features: [] }],
  physicalCores: 4,
  reservedThreads: [],
  devices: [],
  labels: {},
  ...change,
});

const planning = (request: Partial<PlanRequest>, change: Partial<PlanningRequest> = {}): PlanningRequest => ({
  request: { ...PlanRequest.fromPartial({ model: sampleFacts.ggufSource }), ...request },
  inspection,
  pool: [node(2n), node(3n)],
  runId: runId(1n),
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  ...change,
});

const settings = (change: Partial<StageSettings>) => StageSettings.fromPartial(change);

function planned(request: Partial<PlanRequest>, change: Partial<PlanningRequest> = {}) {
  const outcome = planRequest(planning(request, change));
  if (outcome.kind === 'rejected') throw new Error(outcome.rejection.message);
  return outcome;
}

function rejected(request: Partial<PlanRequest>, change: Partial<PlanningRequest> = {}) {
  const outcome = planRequest(planning(request, change));
  if (outcome.kind === 'planned') throw new Error('planned');
  return outcome;
}

describe('a request without a placement', () => {
  it('gets the usable nodes by id, one stage each', () => {
    const pool = [node(2n, { obstacle: { reason: 'cordoned', message: 'cordoned' } }), node(3n), node(4n)];
    const { plan, report } = planned({}, { pool });
    expect(plan.stages.map(({ nodeId: id }) => id)).toEqual([3n, 4n]);
    expect(report).toMatchObject({ selected: { strategy: 'even-split' }, exclusions: [{ nodeId: 2n }] });
    expect(report.nodesConsidered).toBe(report.exclusions.length + plan.stages.length);
  });

  it('never gets more stages than the model has layers', () => {
    const pool = Array.from({ length: 12 }, (_, at) => node(BigInt(at + 2)));
    expect(planned({}, { pool }).plan.stages).toHaveLength(8);
  });

  it('is told how many nodes are missing', () => {
    const { rejection } = rejected({ stageCount: 3 });
    expect(rejection.kind).toBe(Kind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS);
    expect(rejection.message).toMatch(/^3 stages need 3 nodes, 2 can take one/);
    expect(rejected({}, { pool: [] }).rejection.message).toMatch(/^no node can take a stage/);
    const { rejection: engine, report } = rejected({ settings: settings({ engine: 'none' }) });
    expect(engine.violations[1]?.message).toMatch(/^node "node-2" has no engine "none", only fixture/);
    expect(report.exclusions).toMatchObject([{ reason: 'no-engine' }, { reason: 'no-engine' }]);
  });

  it('stays within the pool that it names', () => {
    const { plan } = planned({ pool: { $case: 'nodes', value: { nodeIds: [3n] } } });
    expect(plan.stages.map(({ nodeId: id }) => id)).toEqual([3n]);
  });
});

describe('settings', () => {
  it('have every default filled in, the same in the plan and for the worker', () => {
    const {
      plan,
      settings: [first],
    } = planned({});
    expect(first).toMatchObject({
      engine: 'fixture',
      device: 'cpu',
      totalLayers: 8,
      contextLength: 256,
      microBatch: 128,
    });
    expect(first?.modelDigest).toBe('d'.repeat(64));
    expect(plan.model?.maxSeqLen).toBe(first?.contextLength);
  });

  it('limit a long context unless asked', () => {
    const facts = { ...sampleFacts, maxSeqLen: 131_072n };
    expect(planned({ facts }).plan.model?.maxSeqLen).toBe(4096);
    expect(planned({ facts, settings: settings({ contextLength: 65_536 }) }).plan.model?.maxSeqLen).toBe(65_536);
    expect(planned({ settings: settings({ contextLength: 256 }) }).report.warnings).toEqual([]);
    expect(planned({ settings: settings({ contextLength: 257 }) }).report.warnings).toEqual([
      'a context of 257 tokens is more than the 256 that tiny was made for: ask for a shorter context, or expect poor text',
    ]);
  });

  it('tell each stage the bytes of its layers, the embedding first, the head or its tied copy last, globals everywhere', () => {
    const bytes = planned({}).settings.map(({ expectedBytes }) => expectedBytes);
    expect(bytes).toEqual([100n + 101n + 102n + 103n + 50n + 3n, 104n + 105n + 106n + 107n + 50n + 7n + 3n]);
    const [whole] = planned({ stageCount: 1 }).settings;
    expect(whole?.expectedBytes).toBe(layers.totalBytes);
  });
});

describe('settings of engine llama.cpp', () => {
  const engines = [{ name: 'llama.cpp', build: '1', deviceIds: ['cpu'], features: [] }];
  const pool = [node(2n, { engines, physicalCores: 8 }), node(3n, { engines, physicalCores: 2 })];
  const llama = (change: Partial<StageSettings> = {}) => settings({ engine: 'llama.cpp', ...change });

  it('have threads of each node, which the report shows', () => {
    const { settings: stages, report } = planned({ settings: llama() }, { pool });
    expect(stages.map(({ threads }) => threads)).toEqual([8, 2]);
    expect(report.selected?.settings.map(({ threads }) => threads)).toEqual([8, 2]);
    const exact = planned({ settings: llama({ fidelity: Fidelity.FIDELITY_EXACT }) }, { pool });
    expect(exact.settings.map(({ threads, microBatch }) => [threads, microBatch])).toEqual([
      [2, 128],
      [2, 128],
    ]);
  });

  it('are refused where no node could honour them', () => {
    const { rejection } = rejected({ settings: llama({ kvCacheType: KvCacheType.KV_CACHE_TYPE_Q8_0 }) }, { pool });
    expect(rejection).toMatchObject({
      kind: Kind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS,
      message: 'engine "llama.cpp" does not store keys and values as Q8_0: set kv_cache_type F16',
    });
    expect(planned({ settings: settings({ kvCacheType: KvCacheType.KV_CACHE_TYPE_Q8_0 }) }).settings).toHaveLength(2);
  });
});

describe('rings', () => {
  it('hold one micro-batch and the rows that overtake it, or the prompts of all sessions in pieces, by default', () => {
    const edges = planned({ settings: settings({ microBatch: 16, sessions: 3 }) }).plan.edges;
    expect(edges[1]?.ringSpec?.dataCapacity).toBe(40n + 16n * 64n * 4n + 16n * (40n + 64n * 4n));
    expect(edges[0]?.ringSpec?.dataCapacity).toBe(3n * (16n * 40n + 256n * 4n));
  });

  it('take a default for what the launcher left unset', () => {
    const activation = { dataCapacity: 9000n, alignment: 32, direction: 0, hostPinning: 0, wakeCoalescing: 0 };
    const ring = planned({ rings: { activation } }).plan.edges[1]?.ringSpec;
    expect(ring).toMatchObject({ dataCapacity: 9000n, alignment: 32, hostPinning: 1 });
  });
});

describe('a node that cannot take its stage', () => {
  const on = (...ids: bigint[]): Partial<PlanRequest> => ({
    placement: {
      $case: 'fixedLinear',
      value: { stages: ids.map((id, stageIndex) => ({ stageIndex, nodeId: id })), activationEdges: [] },
    },
  });

  it('is named with its reason', () => {
    const pool = [node(2n), node(3n, { obstacle: { reason: 'cordoned', message: 'node "node-3" is cordoned' } })];
    expect(rejected(on(2n, 3n), { pool }).rejection).toMatchObject({
      kind: Kind.PLAN_REJECTION_KIND_NODE_NOT_SCHEDULABLE,
      violations: [{ field: 'stages[1].node_id', message: 'node "node-3" is cordoned' }],
    });
  });

  it('is named when it lacks the engine or the device', () => {
    const other = rejected({ ...on(2n), settings: settings({ engine: 'llama.cpp' }) }).rejection;
    expect(other.message).toBe(
      'node "node-2" has no engine "llama.cpp", only fixture: choose one of those, or another node',
    );
    const gpu = rejected({ ...on(2n), settings: settings({ device: 'cuda:0' }) }).rejection;
    expect(gpu.message).toBe(
      'engine "fixture" of node "node-2" cannot use device "cuda:0", only cpu: choose one of those, or another node',
    );
    const nothing = rejected(on(2n), { pool: [node(2n, { engines: [] })] }).rejection;
    expect(nothing.message).toMatch(/^node "node-2" has no engine "\S+", and no other: use another node$/);
  });

  it('is named when its worker would sample otherwise than it is asked to', () => {
    const features = [StageFeature.STAGE_FEATURE_SAMPLING];
    const able = node(2n, { engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features }] });
    const pool = [able, node(3n)];
    const runtime = (sampling: Partial<SamplingPolicy>) => ({ runtime: RuntimeConfig.fromPartial({ sampling }) });
    const asked = { ...on(2n, 3n), ...runtime({ temperatureMillis: 700, topPMillis: 900 }) };
    expect(rejected(asked, { pool }).rejection).toMatchObject({
      kind: Kind.PLAN_REJECTION_KIND_NODE_NOT_SCHEDULABLE,
      violations: [
        {
          field: 'stages[1].node_id',
          message: expect.stringMatching(
            /^the worker of node "node-3" knows no sampling beyond .*: install this version/,
          ),
        },
      ],
    });
    planned({ ...on(2n, 2n), ...runtime({ frequencyPenaltyMillis: -1 }) }, { pool });
    planned({ ...on(2n, 3n), ...runtime({ temperatureMillis: 700, topK: 3, repeatLastN: 9 }) }, { pool });
  });

  it('is named when it prevents an exact run', () => {
    const pool = [node(2n), node(3n, { engines: [{ name: 'fixture', build: '2', deviceIds: ['cpu'], features: [] }] })];
    const exact = { ...on(2n, 3n), settings: settings({ fidelity: Fidelity.FIDELITY_EXACT }) };
    expect(rejected(exact, { pool }).rejection.message).toMatch(
      /^node "node-3" runs build 2 .* node "node-2" build 1:/,
    );
    expect(planned(on(2n, 3n), { pool }).report.fidelity).toBe('mixed');
    expect(planned(on(2n, 3n)).report.fidelity).toBe('same-kernels');
    expect(planned(exact).report.fidelity).toBe('exact');
  });
});

describe('the mode of a run', () => {
  const withPrompt = (value: string) =>
    RuntimeConfig.create({ prompt: { source: { $case: 'inline', value } }, sampling: SamplingPolicy.create() });

  it('is ONE_SHOT with a prompt and SERVING without one, unless it is asked for', () => {
    expect(planned({}).mode).toBe(RunMode.RUN_MODE_SERVING);
    expect(planned({ runtime: withPrompt('') }).mode).toBe(RunMode.RUN_MODE_SERVING);
    expect(planned({ runtime: withPrompt('Hello') }).mode).toBe(RunMode.RUN_MODE_ONE_SHOT);
    const serving = { mode: RunMode.RUN_MODE_SERVING, runtime: withPrompt('Hello') };
    expect(planned(serving).mode).toBe(RunMode.RUN_MODE_SERVING);
    expect(planned({ mode: RunMode.RUN_MODE_ONE_SHOT, runtime: withPrompt('Hello') }).mode).toBe(
      RunMode.RUN_MODE_ONE_SHOT,
    );
  });

  it.each([undefined, RuntimeConfig.create(), withPrompt('')])('cannot be ONE_SHOT without a prompt: %j', (runtime) => {
    const { rejection } = rejected({ mode: RunMode.RUN_MODE_ONE_SHOT, ...(runtime && { runtime }) });
    expect(rejection).toMatchObject({
      kind: Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
      message: 'a ONE_SHOT run answers one prompt, and this request has none: set runtime.prompt, or ask for SERVING',
      violations: [{ field: 'runtime.prompt' }],
    });
  });
});

describe('an engine that cannot cut a model anywhere', () => {
  const modelCuts: ModelCuts = {
    kind: 'cuttable',
    engine: 'llama.cpp',
    starts: [3, 6],
    rule: 'only at multiples of 3',
    refusedLengths: [{ layers: 5, because: 'tell it something else' }],
  };
  const ranges = (...starts: number[]): Partial<PlanRequest> => ({
    placement: {
      $case: 'layerRanges',
      value: {
        stages: starts.map((layerStart, stageIndex) => ({
          stageIndex,
          nodeId: 2n,
          layerStart,
          layerEndExclusive: starts[stageIndex + 1] ?? 8,
        })),
      },
    },
  });

  it('gets the nearest layers where it can when the launcher names none', () => {
    const pool = [node(2n), node(3n), node(4n), node(5n)];
    const { plan, report } = planned({}, { modelCuts: { ...modelCuts, refusedLengths: [] }, pool });
    expect(plan.stages.map(({ layerStart }) => layerStart)).toEqual([0, 3, 6]);
    expect(report.selected).toMatchObject({ strategy: 'even-split' });
    expect(report.selected?.selectedBecause[0]).toMatch(/as evenly as engine "llama.cpp" can cut this model$/);
    const [first] = planned({}, { modelCuts: { kind: 'uncut', engine: 'llama.cpp', because: 'so' } }).plan.stages;
    expect(first?.stageCount).toBe(1);
  });

  it('refuses the layer ranges that were asked for, and names stage, layer and the nearest cuts', () => {
    const { rejection } = rejected(ranges(0, 4, 7), { modelCuts });
    expect(rejection).toEqual({
      kind: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
      message:
        'stage 1 begins at layer 4, where tiny on engine "llama.cpp" cannot be cut, only at multiples of 3: ' +
        'give layer ranges that begin it at 3 or 6',
      violations: [
        { field: 'stages[1].layer_start', message: expect.stringContaining('at 3 or 6') },
        { field: 'stages[2].layer_start', message: expect.stringMatching(/at 6$/) },
      ],
    });
    expect(rejected(ranges(0, 3), { modelCuts }).rejection.message).toBe(
      'stage 1 is [3, 8), and no stage of tiny on engine "llama.cpp" may have 5 layers, which tell it something else: ' +
        'give it one layer more or less',
    );
    expect(planned(ranges(0, 3, 6), { modelCuts }).plan.stages).toHaveLength(3);
  });

  it('refuses the even split of a placement that names nodes: it is what fixed_linear means', () => {
    const stages = [2n, 3n].map((nodeId, stageIndex) => ({ stageIndex, nodeId }));
    const placement: PlanRequest['placement'] = { $case: 'fixedLinear', value: { stages, activationEdges: [] } };
    expect(rejected({ placement }, { modelCuts }).rejection.message).toMatch(/^stage 1 begins at layer 4/);
  });

  it('is told how many stages there can be', () => {
    const pool = [node(2n), node(3n), node(4n), node(5n)];
    expect(rejected({ stageCount: 4 }, { modelCuts, pool }).rejection.message).toBe(
      'tiny on engine "llama.cpp" is cut only at multiples of 3, into at most 3: ask for fewer than 4 stages',
    );
    const uncut: ModelCuts = { kind: 'uncut', engine: 'llama.cpp', because: '62 layers tell' };
    expect(rejected({ stageCount: 2 }, { modelCuts: uncut }).rejection.message).toBe(
      'tiny on engine "llama.cpp" cannot be cut: 62 layers tell; plan a single stage',
    );
    expect(planned({ stageCount: 1 }, { modelCuts: uncut }).plan.stages).toHaveLength(1);
  });
});

describe('a plan id', () => {
  it('is the same for the same request, whatever the run and the other nodes', () => {
    const one = planned({ stageCount: 1 });
    const other = planned({ stageCount: 1 }, { runId: runId(9n), pool: [node(2n), node(3n), node(4n)] });
    expect(other.planId).toBe(one.planId);
    expect(planned({ stageCount: 2 }).planId).not.toBe(one.planId);
    expect(one.planId).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a model that cannot be planned', () => {
  it('is refused with its reason, and one that nobody knows with another', () => {
    const { rejection, report } = rejected({}, { modelObstacle: 'bert cannot be planned' });
    expect(rejection).toMatchObject({
      kind: Kind.PLAN_REJECTION_KIND_UNSUPPORTED_MODEL,
      message: 'bert cannot be planned',
    });
    expect(report.selected).toBeUndefined();
    expect(rejected({}, { inspection: undefined }).rejection.kind).toBe(Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT);
  });
});
