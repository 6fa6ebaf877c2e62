import { Node, NodeConditionType as Type } from '../../gen/stageplane/v1/node.js';
import { WatchRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPlan } from '../../gen/stageplane/v1/plan.js';
import { PlanReport } from '../../gen/stageplane/v1/planner.js';
import { KvCacheType, StageSettings } from '../../gen/stageplane/v1/provision.js';
import {
  LoadProgress_Phase,
  Run,
  RunCause,
  RunOutcome,
  RunPhase,
  StageFaultReason,
  StagePhase,
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
    engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'] }],
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
