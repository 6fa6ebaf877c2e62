import { Node, NodeConditionType as Type } from '../../gen/stageplane/v1/node.js';
import { WatchRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPlan } from '../../gen/stageplane/v1/plan.js';
import { EstimateBasis as Basis, CandidateStatus, PlanReport } from '../../gen/stageplane/v1/planner.js';
import { KvCacheType, StageSettings } from '../../gen/stageplane/v1/provision.js';
import {
  LoadProgress_Phase,
  Run,
  RunCause,
  RunOutcome,
  RunPhase,
  StageFaultReason,
  StagePhase,
  StageStatus,
} from '../../gen/stageplane/v1/run.js';

const at = new Date('2026-01-02T03:04:05Z');

export const alpha = sampleNode(2n, 'alpha');
export const beta = sampleNode(3n, 'beta');

export function sampleNode(nodeId: bigint, name: string): Node {
  const met = [
    Type.NODE_CONDITION_TYPE_CONNECTED,
    Type.NODE_CONDITION_TYPE_RECONCILED,
    Type.NODE_CONDITION_TYPE_SCHEDULABLE,
  ];
  return Node.fromPartial({
    nodeId,
    name,
    instanceId: `instance-${nodeId}`,
    conditions: met.map((type) => ({ type, met: true })),
    descriptor: {
      machine: 'box',
      operatingSystem: 'linux',
      architecture: 'x64',
      devices: [{ deviceId: 'cpu', kind: 1, name: 'RAM', totalBytes: 16n << 30n, freeBytes: 12n << 30n }],
    },
    engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features: [] }],
    createdAt: at,
  });
}

export const samplePlan: RunPlan = RunPlan.fromPartial({
  model: {
    modelId: 'tiny',
    numLayers: 8,
    hiddenDim: 64,
    ggufSource: { source: { $case: 'localPath', value: '/m/tiny.gguf' } },
  },
  stages: [
    { stageIndex: 0, stageCount: 2, nodeId: 2n, layerStart: 0, layerEndExclusive: 3 },
    { stageIndex: 1, stageCount: 2, nodeId: 3n, layerStart: 3, layerEndExclusive: 8 },
  ],
});

export const sampleSettings: StageSettings[] = [1024n, 0n].map((expectedBytes) =>
  StageSettings.fromPartial({
    engine: 'fixture',
    device: 'cpu',
    contextLength: 2048,
    kvCacheType: KvCacheType.KV_CACHE_TYPE_F16,
    microBatch: 512,
    sessions: 1,
    threads: expectedBytes > 0n ? 4 : 2,
    expectedBytes,
  }),
);

export const sampleReport: PlanReport = PlanReport.fromPartial({
  selected: { planId: 'ab'.repeat(32), strategy: 'given' },
  exclusions: [{ nodeId: 4n, nodeName: 'gamma', reason: 'cordoned', message: 'node "gamma" is cordoned' }],
  nodesConsidered: 3,
  warnings: ['stage 5 is ignored'],
  fidelity: 'mixed',
});

const GIB = 1024 ** 3;

/** In GiB; without an embedding or head as in the middle of a model. */
function sampleMemory(stageIndex: number, nodeId: bigint, weights: number, basis = Basis.ESTIMATE_BASIS_STATIC) {
  const estimate = (gib: number, note = '') => ({ value: gib * GIB, unit: 'bytes', basis, note });
  return {
    stageIndex,
    nodeId,
    weights: estimate(weights),
    kvCache: estimate(1),
    compute: estimate(0.25),
    embedding: estimate(0.5, 'with the output head, which shares its bytes'),
    rings: estimate(0.125),
    overhead: estimate(0.125),
    state: estimate(0, 'no layer keeps a recurrent state'),
    total: estimate(weights + 2),
  };
}

function sampleSpeed(tokensPerSecond: number, basis = Basis.ESTIMATE_BASIS_STATIC) {
  return {
    secondsPerToken: { value: 1 / tokensPerSecond, unit: 'seconds', basis, note: '' },
    tokensPerSecond: { value: tokensPerSecond, unit: 'tokens/s', basis, note: 'what a token reads' },
  };
}

/** An automatic placement that chose two stages over one node with too little memory and an even split. */
export const pricedReport: PlanReport = PlanReport.fromPartial({
  selected: {
    planId: 'ab'.repeat(32),
    strategy: 'balance-by-vram',
    placement: {
      stages: samplePlan.stages.map(({ stageIndex, nodeId, layerStart, layerEndExclusive }) => {
        return { stageIndex, nodeId, layerStart, layerEndExclusive };
      }),
    },
    selectedBecause: [
      'objective fastest: 46.9 ms per token, the best of 3 placements that fit',
      'it uses 2 of 2 nodes that can take a stage, 50 % of the fullest device',
    ],
  },
  candidates: [
    {
      name: 'single-node',
      strategy: 'single-node',
      status: CandidateStatus.CANDIDATE_STATUS_INFEASIBLE,
      reasons: [
        'stage 0 needs 12.0 GiB (12884901888 bytes), node "alpha" can give 8.5 GiB: 3.5 GiB too little on device "cpu"',
        'another',
      ],
    },
    {
      name: 'balance-by-vram',
      strategy: 'balance-by-vram',
      stageCount: 2,
      status: CandidateStatus.CANDIDATE_STATUS_SELECTED,
      memory: [sampleMemory(0, 2n, 4), sampleMemory(1, 3n, 6, Basis.ESTIMATE_BASIS_LEDGER)],
      ...sampleSpeed(21.333),
    },
    {
      name: 'even-split',
      strategy: 'even-split',
      stageCount: 2,
      status: CandidateStatus.CANDIDATE_STATUS_REJECTED_DOMINATED,
      memory: [sampleMemory(0, 3n, 7), sampleMemory(1, 2n, 3)],
      ...sampleSpeed(9.5, Basis.ESTIMATE_BASIS_LEDGER),
      reasons: ['no better than balance-by-vram'],
    },
  ],
  exclusions: [{ nodeId: 4n, nodeName: 'gamma', reason: 'cordoned', message: 'node "gamma" is cordoned' }],
  nodesConsidered: 3,
  warnings: ['stage 1 takes 91 % of what node "beta" can give: a longer context would not fit'],
  fidelity: 'same-kernels',
});

export const sampleCause: RunCause = RunCause.fromPartial({
  reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED,
  stageIndex: 1,
  nodeId: 3n,
  nodeName: 'beta',
  component: 'worker',
  message: 'the worker ended by itself with code 9',
  logTail: ['loading', 'killed'],
});

/** Run 7 over alpha and beta, at revision 10. */
export const sampleRun: Run = Run.fromPartial({
  runId: 7n,
  requestId: 'request',
  phase: RunPhase.RUN_PHASE_PROVISIONING,
  generation: 1,
  fidelity: 'same-kernels',
  plan: samplePlan,
  settings: sampleSettings,
  stages: [sampleStage(0, 2n, 'alpha'), sampleStage(1, 3n, 'beta')],
  createdAt: at,
  revision: 10n,
});

function sampleStage(stageIndex: number, nodeId: bigint, nodeName: string) {
  const { layerStart = 0, layerEndExclusive = 0 } = samplePlan.stages[stageIndex] ?? {};
  return { stageIndex, nodeId, nodeName, phase: StagePhase.STAGE_PHASE_SENT, layerStart, layerEndExclusive };
}

export function phaseUpdate(
  revision: bigint,
  phase: RunPhase,
  outcome = RunOutcome.RUN_OUTCOME_UNSPECIFIED,
  cause?: RunCause,
) {
  return WatchRunResponse.fromPartial({
    update: {
      $case: 'event',
      value: {
        revision,
        runId: 7n,
        generation: 1,
        at,
        detail: { $case: 'runPhase', value: { phase, outcome, ...(cause && { cause }) } },
      },
    },
  });
}

/** The second generation begins, with these stages. */
export function generationEvent(revision: bigint, stages: readonly Partial<StageStatus>[]) {
  const value = {
    phase: RunPhase.RUN_PHASE_PROVISIONING,
    stages: stages.map((stage) => StageStatus.fromPartial(stage)),
  };
  const detail = { $case: 'runPhase' as const, value };
  return { $case: 'event' as const, value: { revision, runId: 7n, generation: 2, at, detail } };
}

export function stageUpdate(revision: bigint, stageIndex: number, phase: StagePhase) {
  const nodeId = BigInt(stageIndex + 2);
  return WatchRunResponse.fromPartial({
    update: {
      $case: 'event',
      value: {
        revision,
        runId: 7n,
        generation: 1,
        at,
        detail: { $case: 'stagePhase', value: { stageIndex, nodeId, phase } },
      },
    },
  });
}

export function exceededUpdate(revision: bigint, stageIndex: number, reservedBytes: bigint, deviceBytes: bigint) {
  const value = { stageIndex, nodeId: BigInt(stageIndex + 2), reservedBytes, deviceBytes };
  const detail = { $case: 'reservationExceeded' as const, value };
  return WatchRunResponse.fromPartial({
    update: { $case: 'event', value: { revision, runId: 7n, generation: 1, at, detail } },
  });
}

export function loadUpdate(stageIndex: number, bytesDone: bigint, bytesTotal: bigint) {
  const progress = { phase: LoadProgress_Phase.PHASE_BYTES, bytesDone, bytesTotal };
  return WatchRunResponse.fromPartial({ update: { $case: 'loading', value: { stageIndex, progress } } });
}
