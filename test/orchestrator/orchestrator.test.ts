import { status } from '@grpc/grpc-js';
import { describe, expect, it, vi } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import { RunOutcome, RunPhase, StageFaultReason, StagePhase } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { StoreError } from '../../src/store/store-error.js';
import { sampleFacts, sampleHello, samplePlan } from '../core/machine/samples.js';
import { getRun, runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE, RUN_PHASE_TEARING_DOWN } = RunPhase;

describe('a run over gRPC', () => {
  it('is planned, provisioned, ready, stopped and deleted', async () => {
    const { client, address } = await runOrchestrator();
    const agents = [await ScriptedAgent.join(address, 'alpha'), await ScriptedAgent.join(address, 'beta')];
    const created = await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n, 3n]) });
    expect(created.outcome?.$case).toBe('run');
    expect(created.report?.selected?.planId).toMatch(/^[0-9a-f]{64}$/);

    await Promise.all(agents.map((agent) => agent.becomeReady()));
    await watchUntil(client, 1n, RUN_PHASE_RUNNING);
    expect((await getRun(client, 1n)).stages.map(({ phase }) => phase)).toEqual([
      StagePhase.STAGE_PHASE_READY,
      StagePhase.STAGE_PHASE_READY,
    ]);

    const stopped = unaryCall(client, Service.stopRun, { runId: 1n });
    await Promise.all(agents.map((agent) => agent.confirmStop()));
    expect((await stopped).run?.outcome).toBe(RunOutcome.RUN_OUTCOME_STOPPED);
    await watchUntil(client, 1n, RUN_PHASE_DONE);
    await unaryCall(client, Service.deleteRun, { runId: 1n });
    await expect(getRun(client, 1n)).rejects.toMatchObject({ code: status.NOT_FOUND, reason: 'RUN_NOT_FOUND' });
  });

  it('is watched from any revision without a gap or a repetition (I10)', async () => {
    const { client, address } = await runOrchestrator();
    const agent = await ScriptedAgent.join(address, 'alpha');
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    const live = watchUntil(client, 1n, RUN_PHASE_DONE);
    await agent.becomeReady();
    await watchUntil(client, 1n, RUN_PHASE_RUNNING);
    await unaryCall(client, Service.stopRun, { runId: 1n });
    await agent.confirmStop();

    const whole = eventsOf(await live);
    expect(whole.every(({ revision }, at) => at === 0 || revision > whole[at - 1]!.revision)).toBe(true);
    for (const { revision } of whole.slice(0, -1)) {
      const resumed = eventsOf(await watchUntil(client, 1n, RUN_PHASE_DONE, revision));
      expect(resumed).toEqual(whole.filter((event) => event.revision > revision));
    }
  });

  it('ends with the cause when an agent refuses its stage', async () => {
    const { client, address } = await runOrchestrator();
    const [alpha, beta] = [await ScriptedAgent.join(address, 'alpha'), await ScriptedAgent.join(address, 'beta')];
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n, 3n]) });
    const { deliveryId } = await beta.next('provision');
    const refusal = {
      reason: StageFaultReason.STAGE_FAULT_REASON_MODEL_NOT_FOUND,
      message: 'no file tiny.gguf under /models',
      logTail: [],
    };
    beta.say({ $case: 'nack', value: { deliveryId, status: refusal } });
    await watchUntil(client, 1n, RUN_PHASE_TEARING_DOWN);
    await Promise.all([alpha.confirmStop(), beta.confirmStop()]);
    await watchUntil(client, 1n, RUN_PHASE_DONE);
    const run = await getRun(client, 1n);
    expect(run).toMatchObject({
      outcome: RunOutcome.RUN_OUTCOME_FAULTED,
      cause: { reason: refusal.reason, stageIndex: 1, nodeName: 'beta', component: 'agent', message: refusal.message },
    });
  });

  it('carries on after a restart with the same data folder', async () => {
    const dataFolder = temporaryFolder();
    const first = await runOrchestrator({ dataFolder });
    const agent = await ScriptedAgent.join(first.address, 'alpha');
    await unaryCall(first.client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    await agent.becomeReady();
    await watchUntil(first.client, 1n, RUN_PHASE_RUNNING);
    const before = await getRun(first.client, 1n);
    await first.stop();
    expect((await agent.ended)?.code).toBe(status.UNAVAILABLE);
    expect(await agent.next('goAway')).toMatchObject({ retryDelayMillis: 500n });

    const second = await runOrchestrator({ dataFolder });
    expect(await getRun(second.client, 1n)).toEqual(before);
    const held = [{ runId: 1n, stageIndex: 0, generation: 1, phase: 2 }];
    const returned = await ScriptedAgent.join(second.address, 'alpha', { held });
    expect(await returned.next('welcome')).toMatchObject({ nodeId: 2n, epoch: 2n });
    expect((await getRun(second.client, 1n)).phase).toBe(RUN_PHASE_RUNNING);
  });
});

describe('requests', () => {
  it('have one effect per request id (I9)', async () => {
    const { client, address } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha');
    const request = { requestId: 'r', plan: samplePlan([2n]) };
    const twice = await Promise.all([
      unaryCall(client, Service.createRun, request),
      unaryCall(client, Service.createRun, request),
    ]);
    expect(twice.map(({ outcome }) => outcome?.$case === 'run' && outcome.value.runId)).toEqual([1n, 1n]);
    const other = { requestId: 'r', plan: { ...samplePlan([2n]), stageCount: 0 } };
    await expect(unaryCall(client, Service.createRun, other)).rejects.toMatchObject({ reason: 'REQUEST_CONFLICT' });
  });

  it('are answered with a rejection that names the field', async () => {
    const { client, address } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha');
    const { outcome, report } = await unaryCall(client, Service.planRun, { plan: samplePlan([2n, 7n]) });
    expect(outcome).toMatchObject({
      $case: 'rejection',
      value: { violations: [{ field: 'placement.fixed_linear.stages[1].node_id' }] },
    });
    expect(report?.exclusions).toMatchObject([{ nodeName: 'alpha', reason: 'not-chosen' }]);
  });

  it('place one stage on each schedulable node when they name no placement', async () => {
    const { client, address } = await runOrchestrator();
    for (const name of ['alpha', 'beta', 'gamma']) await ScriptedAgent.join(address, name);
    await unaryCall(client, Service.cordonNode, { nodeId: 3n });
    const plan = { model: sampleFacts.ggufSource, facts: sampleFacts, mode: 0, stageCount: 0 };
    const { outcome, report } = await unaryCall(client, Service.planRun, { plan });
    const nodes = outcome?.$case === 'plan' ? outcome.value.plan?.stages.map(({ nodeId }) => nodeId) : undefined;
    expect(nodes).toEqual([2n, 4n]);
    expect(report).toMatchObject({ nodesConsidered: 3, exclusions: [{ nodeName: 'beta', reason: 'cordoned' }] });

    const tooMany = await unaryCall(client, Service.planRun, { plan: { ...plan, stageCount: 3 } });
    expect(tooMany.outcome).toMatchObject({ $case: 'rejection', value: { message: /3 stages need 3 nodes, 2 can/ } });
  });

  it('are refused by field path for what this version does not know', async () => {
    const { client } = await runOrchestrator();
    const plan = { ...samplePlan([2n]), mode: 99 as never };
    await expect(unaryCall(client, Service.createRun, { requestId: 'r', plan })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      fieldViolations: [{ field: 'plan.mode', description: expect.stringContaining('99') }],
    });
    const empty = unaryCall(client, Service.createRun, { requestId: '', plan: samplePlan([2n]) });
    await expect(empty).rejects.toMatchObject({ fieldViolations: [{ field: 'request_id' }] });
    const huge = unaryCall(client, Service.planRun, { plan: { ...samplePlan([2n]), stageCount: 513 } });
    await expect(huge).rejects.toMatchObject({ fieldViolations: [{ field: 'plan.stage_count' }] });
    await expect(unaryCall(client, Service.inspectModel, { source: {}, includeTensors: false })).rejects.toMatchObject({
      reason: 'MODEL_MISSING',
    });
  });

  it('name the file that the orchestrator cannot read', async () => {
    const { client, dataFolder } = await runOrchestrator();
    const inspect = (path: string) =>
      unaryCall(client, Service.inspectModel, {
        source: { source: { $case: 'localPath', value: path } },
        includeTensors: false,
      });
    await expect(inspect('/nowhere/x.gguf')).rejects.toMatchObject({
      reason: 'MODEL_NOT_FOUND',
      message: /\/nowhere\/x.gguf/,
    });
    await expect(inspect(dataFolder)).rejects.toMatchObject({ reason: 'MODEL_UNREADABLE' });
  });

  it('page through lists', async () => {
    const { client, address } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha');
    for (const requestId of ['a', 'b', 'c']) {
      await unaryCall(client, Service.createRun, { requestId, plan: samplePlan([2n]) });
    }
    const first = await unaryCall(client, Service.listRuns, { pageSize: 2, pageToken: '', activeOnly: false });
    const rest = { pageSize: 2, pageToken: first.nextPageToken, activeOnly: false };
    const second = await unaryCall(client, Service.listRuns, rest);
    expect([...first.runs, ...second.runs].map(({ runId }) => runId)).toEqual([3n, 2n, 1n]);
    expect(second.nextPageToken).toBe('');
    const broken = { pageSize: 2, pageToken: 'nonsense', activeOnly: false };
    await expect(unaryCall(client, Service.listRuns, broken)).rejects.toMatchObject({ reason: 'INVALID_PAGE_TOKEN' });
  });
});

describe('an agent session', () => {
  it('must begin with one Hello', async () => {
    const { address } = await runOrchestrator();
    const rude = new ScriptedAgent(address);
    rude.say({ $case: 'heartbeat', value: { sequence: 1n, devices: [], stages: [] } });
    expect(await rude.ended).toMatchObject({ code: status.FAILED_PRECONDITION, reason: 'HELLO_MISSING' });
  });

  it('is refused for a name that another agent has', async () => {
    const { address } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha');
    const other = ScriptedAgent.join(address, 'alpha', { instanceId: 'another' });
    await expect(other).rejects.toThrow('the name "alpha" belongs to node 2: start this agent with another --name');
  });

  it('is refused with the field when its Hello is malformed', async () => {
    const { address } = await runOrchestrator();
    const agent = new ScriptedAgent(address);
    agent.say({ $case: 'hello', value: sampleHello('') });
    const error = await agent.ended;
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(error?.fieldViolations[0]?.field).toBe('hello.name');
  });

  it('is ended by a refusal without a reason, and its stage is not', async () => {
    const { client, address } = await runOrchestrator();
    const agent = await ScriptedAgent.join(address, 'alpha');
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    const { deliveryId } = await agent.next('provision');
    agent.say({ $case: 'nack', value: { deliveryId } });
    expect(await agent.ended).toMatchObject({
      code: status.INVALID_ARGUMENT,
      fieldViolations: [{ field: 'nack.status' }],
    });
    const { stages } = await getRun(client, 1n);
    expect(stages).toMatchObject([{ phase: StagePhase.STAGE_PHASE_SENT }]);
  });

  it('that vanished leaves its node waiting, not lost', async () => {
    const { client, address } = await runOrchestrator();
    const agent = await ScriptedAgent.join(address, 'alpha');
    await agent.vanish();
    const { outcome } = await unaryCall(client, Service.planRun, { plan: samplePlan([2n]) });
    expect(outcome).toMatchObject({ $case: 'rejection', value: { message: /node "alpha" is not connected/ } });
  });
});

describe('a second orchestrator', () => {
  it('is refused on the same data folder', async () => {
    const { dataFolder } = await runOrchestrator();
    await expect(runOrchestrator({ dataFolder })).rejects.toThrow(/uses the data folder .*: stop it, or name another/);
  });

  it('is refused on the same port, and leaves its folder usable', async () => {
    const { address } = await runOrchestrator();
    const dataFolder = temporaryFolder();
    await expect(runOrchestrator({ dataFolder, listen: address })).rejects.toThrow(`${address} is in use`);
    await runOrchestrator({ dataFolder });
  });

  it('is refused beyond this machine', async () => {
    await expect(runOrchestrator({ listen: '0.0.0.0:0' })).rejects.toThrow(
      'add --insecure and --trust-network on a network you trust',
    );
  });
});

function eventsOf(responses: Awaited<ReturnType<typeof watchUntil>>): RunEvent[] {
  return responses.flatMap(({ update }) => (update?.$case === 'event' ? [update.value] : []));
}

describe('an orchestrator whose disk fails in the middle of a commit', () => {
  it('ends, and a new one begins with what is stored (I11)', async () => {
    const { address, client, dataFolder, done } = await runOrchestrator();
    const agent = await ScriptedAgent.join(address, 'alpha');
    const commit = vi.spyOn(SqliteStore.prototype, 'commit').mockImplementation(() => {
      throw new StoreError('io', dataFolder, 'disk I/O error');
    });
    const creating = unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    await expect(creating).rejects.toMatchObject({ reason: 'STORE_FAILED' });
    await expect(done).rejects.toThrow('disk I/O error');
    await agent.ended;
    commit.mockRestore();

    const next = await runOrchestrator({ dataFolder, listen: address });
    const everyRun = { pageSize: 0, pageToken: '', activeOnly: false };
    expect((await unaryCall(next.client, Service.listRuns, everyRun)).runs).toEqual([]);
  });
});
