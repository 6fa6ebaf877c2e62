import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RestartMode, RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { sampleFacts } from '../core/machine/samples.js';
import { getRun, type RunningOrchestrator, runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE, RUN_PHASE_TEARING_DOWN } = RunPhase;
const plan = { model: sampleFacts.ggufSource, facts: sampleFacts, mode: 0, stageCount: 1 };
const onFault = (maxAttempts: number, backoffMillis = 1n) => ({
  mode: RestartMode.RESTART_MODE_ON_FAULT,
  maxAttempts,
  backoffMillis,
});

async function create({ client }: RunningOrchestrator, maxAttempts: number): Promise<bigint> {
  const request = { requestId: 'r', plan, restart: onFault(maxAttempts) };
  const { outcome } = await unaryCall(client, Service.createRun, request);
  return outcome?.$case === 'run' ? outcome.value.runId : 0n;
}

/** Its one stage faults, and its worker is gone. */
async function fault(agent: ScriptedAgent, generation: number): Promise<void> {
  const key = { runId: 1n, stageIndex: 0, generation };
  const reason = StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED;
  agent.report(key, { $case: 'fault', value: { reason, message: `generation ${generation} died`, logTail: [] } });
  await agent.confirmStop();
}

it('a faulted run begins again until its attempts are used up, and says so', async () => {
  const orchestrator = await runOrchestrator();
  const { client, address } = orchestrator;
  const agent = await ScriptedAgent.join(address, 'alpha');
  const runId = await create(orchestrator, 2);
  await agent.becomeReady();
  await watchUntil(client, runId, RUN_PHASE_RUNNING);

  await fault(agent, 1);
  await agent.becomeReady();
  const told = await watchUntil(client, runId, RUN_PHASE_RUNNING, (await getRun(client, runId)).revision - 2n);
  expect(told.length).toBeGreaterThan(0);
  expect(await getRun(client, runId)).toMatchObject({
    phase: RUN_PHASE_RUNNING,
    outcome: RunOutcome.RUN_OUTCOME_UNSPECIFIED,
    generation: 2,
    restarts: 1,
    restart: onFault(2),
    cause: undefined,
    lastCause: { message: 'generation 1 died', nodeName: 'alpha' },
  });

  await fault(agent, 2);
  await agent.becomeReady();
  await fault(agent, 3);
  await watchUntil(client, runId, RUN_PHASE_DONE);
  expect(await getRun(client, runId)).toMatchObject({
    outcome: RunOutcome.RUN_OUTCOME_FAULTED,
    generation: 3,
    restarts: 2,
    cause: { message: 'generation 3 died' },
    lastCause: { message: 'generation 2 died' },
  });
});

it('a restart of the orchestrator keeps a run that is about to begin again (I11)', async () => {
  const first = await runOrchestrator();
  const agent = await ScriptedAgent.join(first.address, 'alpha');
  const runId = await create(first, 1);
  await agent.becomeReady();
  await watchUntil(first.client, runId, RUN_PHASE_RUNNING);
  const key = { runId, stageIndex: 0, generation: 1 };
  const reason = StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED;
  agent.report(key, { $case: 'fault', value: { reason, message: 'it died', logTail: [] } });
  await watchUntil(first.client, runId, RUN_PHASE_TEARING_DOWN);
  await first.stop();

  const second = await runOrchestrator({ dataFolder: first.dataFolder });
  expect(await getRun(second.client, runId)).toMatchObject({
    phase: RUN_PHASE_TEARING_DOWN,
    outcome: RunOutcome.RUN_OUTCOME_UNSPECIFIED,
    cause: { message: 'it died' },
  });
  const back = await ScriptedAgent.join(second.address, 'alpha');
  await back.becomeReady();
  await watchUntil(second.client, runId, RUN_PHASE_RUNNING);
  expect(await getRun(second.client, runId)).toMatchObject({ generation: 2, restarts: 1 });
});

it('a stop ends a run that is about to begin again', async () => {
  const orchestrator = await runOrchestrator();
  const { client, address } = orchestrator;
  const agent = await ScriptedAgent.join(address, 'alpha');
  const runId = await create(orchestrator, 9);
  await agent.becomeReady();
  const reason = StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED;
  agent.report(
    { runId, stageIndex: 0, generation: 1 },
    { $case: 'fault', value: { reason, message: '', logTail: [] } },
  );
  await watchUntil(client, runId, RUN_PHASE_TEARING_DOWN);
  const { run } = await unaryCall(client, Service.stopRun, { runId });
  expect(run).toMatchObject({ phase: RUN_PHASE_TEARING_DOWN, outcome: RunOutcome.RUN_OUTCOME_STOPPED });
  await agent.confirmStop();
  await watchUntil(client, runId, RUN_PHASE_DONE);
  expect(await getRun(client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_STOPPED, generation: 1 });
});

it.each([
  [onFault(0), 'restart.max_attempts'],
  [onFault(101), 'restart.max_attempts'],
  [onFault(1, 300_001n), 'restart.backoff_millis'],
])('a policy out of bounds is refused by its field', async (restart, field) => {
  const { client } = await runOrchestrator();
  const call = unaryCall(client, Service.createRun, { requestId: 'r', plan, restart });
  await expect(call).rejects.toMatchObject({ code: status.INVALID_ARGUMENT, fieldViolations: [{ field }] });
});
