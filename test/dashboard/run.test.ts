import { expect, test } from 'vitest';
import { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import {
  LoadProgress_Phase as LoadPhase,
  type LoadProgress,
  Run,
  RunCause,
  RunPhase,
  StageFaultReason,
  StagePhase,
} from '../../gen/stageplane/v1/run.js';
import { textSpeed } from '../../src/cli/format/text-speed.js';
import { planRun } from '../../src/core/planner/plan-run.js';
import { faultView } from '../../src/dashboard/runs/fault-view.js';
import { pipelineView } from '../../src/dashboard/runs/pipeline-view.js';
import { runFacts } from '../../src/dashboard/runs/run-facts-view.js';
import { stageLogView } from '../../src/dashboard/runs/stage-log-view.js';
import { sampleFacts } from '../core/machine/samples.js';

function sampleRun(phases: readonly StagePhase[]): Run {
  const stages = phases.map((_, stageIndex) => ({ stageIndex, nodeId: BigInt(stageIndex + 2) }));
  const ring = { dataCapacity: 1n << 20n, alignment: 4, direction: 2, hostPinning: 1, wakeCoalescing: 1 };
  const planned = planRun({
    runId: 1n,
    orchestratorNodeId: 1n,
    model: sampleFacts,
    runtime: PlanRequest.fromJSON({
      runtime: { prompt: { inline: '' }, sampling: {}, tokenOutputPolicy: 'TOKEN_OUTPUT_POLICY_EMIT_ALL' },
    }).runtime,
    candidatePool: stages.map(({ nodeId }) => nodeId),
    stageCount: phases.length,
    placement: { placement: { $case: 'fixedLinear', value: { stages, activationEdges: [] } } },
    activationRing: ring,
    tokenRing: ring,
  });
  if (planned.kind !== 'planned') throw new Error(JSON.stringify(planned.rejection));
  const layers = (at: number) => planned.plan.stages[at]!;
  return Run.fromPartial({
    runId: 1n,
    phase: RunPhase.RUN_PHASE_WAITING_READY,
    generation: 1,
    plan: planned.plan,
    stages: phases.map((phase, at) => ({
      stageIndex: at,
      nodeId: BigInt(at + 2),
      nodeName: `node-${at}`,
      phase,
      layerStart: layers(at).layerStart,
      layerEndExclusive: layers(at).layerEndExclusive,
    })),
  });
}

const bytes = (bytesDone: bigint): LoadProgress => ({ phase: LoadPhase.PHASE_BYTES, bytesDone, bytesTotal: 1000n });

test('a pipeline has an edge into each stage and one out of the last, each with what crosses it', () => {
  const { stages, layers } = pipelineView(
    sampleRun([StagePhase.STAGE_PHASE_READY, StagePhase.STAGE_PHASE_PENDING]),
    new Map(),
  );
  expect(layers).toBe(8);
  expect(stages).toMatchObject([
    { layers: '[0, 4)', share: 0.5, inbound: { kind: 'tokens in', unit: '4 B per token' }, outbound: undefined },
    {
      layers: '[4, 8)',
      inbound: { kind: 'activations', unit: '256 B per row', shape: 'rows of 64 × 4 B, at most 64.0 KiB at once' },
      outbound: { kind: 'tokens out' },
    },
  ]);
});

test('the newest progress counts while a stage loads, and none afterwards', () => {
  const loading = sampleRun([StagePhase.STAGE_PHASE_LOADING]);
  const told = (progress: LoadProgress) => pipelineView(loading, new Map([[0, progress]])).stages[0]?.loading;
  expect(told(bytes(420n))).toEqual({ share: 0.42, text: '42%, 420 B of 1000 B' });
  expect(told(bytes(5000n))?.share).toBe(1);
  expect(told({ ...bytes(0n), bytesTotal: 0n })?.share).toBe(0);
  expect(told({ ...bytes(0n), phase: LoadPhase.PHASE_WAITING_EDGES })?.text).toBe('loaded, waits for its neighbours');
  const ready = pipelineView(sampleRun([StagePhase.STAGE_PHASE_READY]), new Map([[0, bytes(420n)]]));
  expect(ready.stages[0]?.loading).toBeUndefined();
});

test('a cause names the part, the stage and the node, and what it cannot name it leaves out', () => {
  const reason = StageFaultReason.STAGE_FAULT_REASON_NODE_LOST;
  const cause = RunCause.fromPartial({ reason, stageIndex: 1, nodeId: 3n, nodeName: 'beta', component: 'agent' });
  expect(faultView(cause)).toMatchObject({ where: 'agent of stage 1 on beta', reason: 'node lost' });
  expect(faultView(RunCause.fromPartial({ reason }))).toMatchObject({ where: 'unknown part' });
});

test('facts that nobody has told are not there', () => {
  const names = runFacts(sampleRun([StagePhase.STAGE_PHASE_READY])).map(({ name }) => name);
  expect(names).toEqual(['model', 'mode']);
  expect([0, 3.06, 123.4].map(textSpeed)).toEqual(['0 tokens/s', '3.1 tokens/s', '123 tokens/s']);
});

test('a log is safe to show, and says where it comes from when it is not the whole of it', () => {
  expect(stageLogView({ lines: ['loads', 'a\u001b[31mb'], fromFault: false })).toEqual({
    lines: ['loads', 'a\\x1b[31mb'],
    note: '',
  });
  expect(stageLogView({ lines: [], fromFault: false }).note).toBe('It has written nothing.');
  expect(stageLogView({ lines: ['last'], fromFault: true }).note).toMatch(/away.*travelled with the fault/);
  expect(stageLogView({ lines: [], fromFault: true }).note).toBe('The agent is away.');
});
