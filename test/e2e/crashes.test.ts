import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  GenerateRequest,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { isAlive } from '../../src/process/descendants.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';
import { loading } from './loading.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE, RUN_PHASE_WAITING_READY } = RunPhase;

describe('kill -9', () => {
  it('of the orchestrator between plan and ready loses nothing and starts nothing twice (I3, I11)', async () => {
    const cluster = await Cluster.start(['alpha', 'beta', 'gamma']);
    const runId = await cluster.create('r', 3);
    await loading(cluster.client, runId, 3);

    await cluster.kill('orchestrator', 'SIGKILL');
    cluster.openGate();
    await cluster.startOrchestrator();
    await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
    for (const name of ['alpha', 'beta', 'gamma']) expect(cluster.workersOf(name)).toHaveLength(1);
    // The request is known, so asking again starts nothing either (I9).
    expect(await cluster.create('r', 3)).toBe(runId);

    await unaryCall(cluster.client, Service.stopRun, { runId });
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    expect(await getRun(cluster.client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_STOPPED });
    expect(await cluster.end()).toEqual([]);
  });

  it('of the orchestrator takes its token endpoints along, and the run serves again with a new one', async () => {
    const cluster = await Cluster.start(['alpha']);
    cluster.openGate();
    const runId = await cluster.create('r', 1);
    await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
    const [endpoint] = cluster.endpoints();
    await cluster.kill('orchestrator', 'SIGKILL');
    while (isAlive(endpoint!)) await new Promise((resolve) => setTimeout(resolve, 20));
    await cluster.startOrchestrator();
    while (cluster.endpoints().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await unaryCall(cluster.client, Service.stopRun, { runId });
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    expect(await cluster.end()).toEqual([]);
  });

  it('of an agent ends its workers at once, and its run names the stage that went with it', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { flags: ['--grace', '500ms'] });
    const runId = await cluster.create('r', 2);
    cluster.openGate();
    await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
    const victim = (await getRun(cluster.client, runId)).stages[1]?.nodeName ?? '';

    await cluster.kill(victim, 'SIGKILL');
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    const run = await getRun(cluster.client, runId);
    expect(run).toMatchObject({
      outcome: RunOutcome.RUN_OUTCOME_FAULTED,
      cause: { reason: StageFaultReason.STAGE_FAULT_REASON_PEER_LOST, stageIndex: 1, nodeName: victim },
    });
    expect(run.cause?.message).toContain(`node "${victim}" went out of contact`);
    expect(cluster.workersOf(victim).filter(isAlive)).toEqual([]);
    // What it had no time to remove, its next start does.
    cluster.startAgent(victim);
    await nodesReady(cluster.client, 2);
    expect(await cluster.end()).toEqual([]);
  });

  it.skipIf(findLlamaPackage().kind === 'refused')('of an agent ends a worker that computes natively', async () => {
    // Without the programs by which the kernel would do it.
    vi.stubEnv('PATH', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    // Large enough that the library is at work nearly all of the time.
    const tiny = { layers: 8, hidden: 512, contextLength: 4096 };
    const cluster = await Cluster.start(['alpha'], { ownWorkers: true, tiny, flags: ['--grace', '500ms'] });
    const runId = await cluster.create('r', 1, { engine: 'llama.cpp', threads: 1, contextLength: 4096 });
    await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
    const worker = await cluster.workerOf(runId, 0);
    const runtime = { prompt: { source: { $case: 'inline', value: 'the old lighthouse '.repeat(100) } } } as const;
    const answer = streamCall(cluster.client, Service.generate, GenerateRequest.fromPartial({ runId, runtime }));
    await answer.next();
    expect(isAlive(worker)).toBe(true);
    await cluster.kill('alpha', 'SIGKILL');
    while (isAlive(worker)) await new Promise((resolve) => setTimeout(resolve, 20));
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    cluster.startAgent('alpha');
    await nodesReady(cluster.client, 1);
    expect(await cluster.end()).toEqual([]);
  });

  it('of an agent that comes back within its grace is told as WORKER_GONE, not guessed', async () => {
    const cluster = await Cluster.start(['alpha', 'beta']);
    const runId = await cluster.create('r', 2);
    // Before there are edges, no neighbour can notice.
    await loading(cluster.client, runId, 2);
    const victim = (await getRun(cluster.client, runId)).stages[0]?.nodeName ?? '';

    await cluster.kill(victim, 'SIGKILL');
    cluster.startAgent(victim);
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    expect(await getRun(cluster.client, runId)).toMatchObject({
      cause: { reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_GONE, stageIndex: 0, nodeName: victim },
    });
    await nodesReady(cluster.client, 2);
    expect(await cluster.end()).toEqual([]);
  });

  it('of a worker ends the run with the signal in its cause, and the agent goes on', async () => {
    const cluster = await Cluster.start(['alpha', 'beta']);
    const runId = await cluster.create('r', 2);
    await watchUntil(cluster.client, runId, RUN_PHASE_WAITING_READY);
    await loading(cluster.client, runId, 2);
    const victim = (await getRun(cluster.client, runId)).stages[1]?.nodeName ?? '';

    process.kill(cluster.workersOf(victim)[0] ?? 0, 'SIGKILL');
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    const run = await getRun(cluster.client, runId);
    expect(run.cause).toMatchObject({
      reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED,
      stageIndex: 1,
      component: 'worker',
      logTail: expect.arrayContaining(['waiting for the gate']),
    });
    expect(run.cause?.message).toContain('SIGKILL');

    cluster.openGate();
    await watchUntil(cluster.client, await cluster.create('again', 2), RUN_PHASE_RUNNING);
    expect(await cluster.end()).toEqual([]);
  });
});
