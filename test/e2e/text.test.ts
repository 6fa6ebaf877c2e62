import { describe, expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { unaryCall } from '../../src/grpc/client.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { type Answer, answerOf, attach, generate } from './ask.js';
import { Cluster } from './cluster.js';
import { idle } from './idle.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;
const three = ['alpha', 'beta', 'gamma'];

/** The gate stands open: its diary says which worker has which stage. */
async function startCluster(agents: readonly string[], flags: readonly string[] = []): Promise<Cluster> {
  const cluster = await Cluster.start(agents, { flags });
  cluster.openGate();
  return cluster;
}

async function serving(cluster: Cluster, requestId: string, stages: number): Promise<bigint> {
  const runId = await cluster.create(requestId, stages, { sessions: 4 });
  await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
  return runId;
}

function oneShot(cluster: Cluster, requestId: string, prompt: string, maxTokens: number): Promise<bigint> {
  const runtime = RuntimeConfig.fromPartial({ maxTokens, prompt: { source: { $case: 'inline', value: prompt } } });
  return cluster.create(requestId, 3, {}, { mode: RunMode.RUN_MODE_ONE_SHOT, runtime });
}

describe('a run that serves', () => {
  it('says with three stages what it says with one, prompt after prompt', async () => {
    const cluster = await startCluster(three);
    const split = await serving(cluster, 'three', 3);
    const whole = await serving(cluster, 'one', 1);
    for (const prompt of ['Why is the sky blue?', 'And at night?']) {
      const answer = await answerOf(generate(cluster.client, split, prompt));
      expect(answer.tokenIds.length).toBeGreaterThan(8);
      expect(answer.end).toMatchObject({ $case: 'done', value: { promptTokens: Buffer.byteLength(prompt) } });
      const { text, tokenIds } = await answerOf(generate(cluster.client, whole, prompt));
      expect({ text, tokenIds }).toEqual({ text: answer.text, tokenIds: answer.tokenIds });
    }
    expect(await cluster.end()).toEqual([]);
  });

  it('refuses a prompt that it cannot answer, with both numbers, and goes on', async () => {
    const cluster = await startCluster(['alpha']);
    const runId = await cluster.create('short', 1, { contextLength: 16 });
    await expect(answerOf(generate(cluster.client, runId, 'too early'))).rejects.toMatchObject({
      reason: 'RUN_NOT_RUNNING',
    });
    await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
    await expect(answerOf(generate(cluster.client, runId, 'x'.repeat(17)))).rejects.toMatchObject({
      reason: 'PROMPT_TOO_LONG',
      metadata: { actual: '17', allowed: '16' },
      message: expect.stringMatching(/17 tokens.*context 16/),
    });
    await expect(answerOf(generate(cluster.client, runId, ''))).rejects.toMatchObject({ reason: 'INVALID_FIELDS' });
    await expect(answerOf(attach(cluster.client, runId))).rejects.toMatchObject({ reason: 'RUN_NOT_ONE_SHOT' });
    const { end } = await answerOf(generate(cluster.client, runId, 'short'));
    expect(end).toMatchObject({ $case: 'done', value: { reason: TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL } });
    expect(await cluster.end()).toEqual([]);
  });

  it('is left with no session and no KV by fifty answers at a time and two hundred that were cancelled', async () => {
    const cluster = await startCluster(three, ['--heartbeat', '500ms']);
    const runId = await serving(cluster, 'many', 3);
    const whole = await answerOf(generate(cluster.client, runId, 'prompt 7', 24));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => answerOf(generate(cluster.client, runId, `prompt ${i}`, 24))),
    );
    expect(answers.every(({ end }) => end?.$case === 'done')).toBe(true);
    expect(answers[7]?.tokenIds).toEqual(whole.tokenIds);

    const cancelled = Array.from({ length: 200 }, async (_, i) => {
      const caller = new AbortController();
      // Some while they wait, some in the middle.
      if (i % 2 === 0) setImmediate(() => caller.abort());
      for await (const _response of generate(cluster.client, runId, `cancelled ${i}`, 4000, caller.signal)) break;
    });
    await Promise.allSettled(cancelled);
    await idle(cluster.client, runId);
    expect((await answerOf(generate(cluster.client, runId, 'prompt 7', 24))).tokenIds).toEqual(whole.tokenIds);
    expect(await cluster.end()).toEqual([]);
  });

  it('tells who asked of the stage that died in the middle of an answer, and not of its neighbour', async () => {
    const cluster = await startCluster(three);
    const runId = await serving(cluster, 'victim', 3);
    const { stages } = await getRun(cluster.client, runId);
    const victim = stages[1]!;
    const responses = generate(cluster.client, runId, 'tell me a long story', 4000);
    await responses.next();
    process.kill(cluster.workersOf(victim.nodeName)[0] ?? 0, 'SIGKILL');
    const { end } = await answerOf(responses);
    const cause = {
      stageIndex: 1,
      nodeName: victim.nodeName,
      reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED,
    };
    expect(end).toMatchObject({ $case: 'fault', value: cause });
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    expect(await getRun(cluster.client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_FAULTED, cause });
    expect(await cluster.end()).toEqual([]);
  });

  it('goes on after kill -9 of its orchestrator, with the same workers and the same text', async () => {
    const cluster = await startCluster(three);
    const runId = await serving(cluster, 'survivor', 3);
    const before = await answerOf(generate(cluster.client, runId, 'Hello'));
    const workers = three.map((name) => cluster.workersOf(name));
    const cutOff = generate(cluster.client, runId, 'an answer that is cut off', 4000);
    await cutOff.next();

    await cluster.kill('orchestrator', 'SIGKILL');
    await expect(answerOf(cutOff)).rejects.toMatchObject({ codeName: 'UNAVAILABLE' });
    await cluster.startOrchestrator(['--heartbeat', '500ms']);
    const after = await answeredAgain(cluster, runId, 'Hello');
    expect(after.tokenIds).toEqual(before.tokenIds);
    expect(three.map((name) => cluster.workersOf(name))).toEqual(workers);
    await idle(cluster.client, runId);
    expect(await cluster.end()).toEqual([]);
  });
});

/** Asks until the token endpoint is open again. */
async function answeredAgain(cluster: Cluster, runId: bigint, prompt: string): Promise<Answer> {
  for (;;) {
    try {
      return await answerOf(generate(cluster.client, runId, prompt));
    } catch (error) {
      if ((error as { reason?: string }).reason !== 'TOKEN_ENDPOINT_OPENING') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

describe('a one-shot run', () => {
  it('completes by itself, and its answer stays with it', async () => {
    const cluster = await startCluster(three);
    const runId = await oneShot(cluster, 'once', 'Why is the sky blue?', 48);
    // Long before it is answered.
    const followed = answerOf(attach(cluster.client, runId));
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    expect(await getRun(cluster.client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_COMPLETED });
    const answer = await followed;
    expect(answer.end).toMatchObject({ $case: 'done', value: { generatedTokens: answer.tokenIds.length } });
    expect(answer.tokenIds.length).toBeGreaterThan(0);
    expect(await answerOf(attach(cluster.client, runId))).toEqual(answer);

    await cluster.kill('orchestrator', 'SIGKILL');
    await cluster.startOrchestrator();
    expect(await answerOf(attach(cluster.client, runId))).toEqual(answer);
    await expect(answerOf(generate(cluster.client, runId, 'more'))).rejects.toMatchObject({
      reason: 'RUN_NOT_SERVING',
    });
    expect(await cluster.end()).toEqual([]);
  });

  it('whose prompt is too long says so with both numbers', async () => {
    const cluster = await startCluster(three);
    const runId = await oneShot(cluster, 'long', 'x'.repeat(5000), 8);
    const { end } = await answerOf(attach(cluster.client, runId));
    const cause = { reason: StageFaultReason.STAGE_FAULT_REASON_PROMPT_REFUSED, component: 'token-endpoint' };
    expect(end).toMatchObject({
      $case: 'fault',
      value: { ...cause, message: expect.stringMatching(/5000 tokens.*context 2048/) },
    });
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    expect(await getRun(cluster.client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_FAULTED, cause });
    expect(await cluster.end()).toEqual([]);
  });

  it('ends with an orchestrator that is killed in the middle of its answer', async () => {
    const cluster = await startCluster(three);
    const runId = await oneShot(cluster, 'cut', 'tell me a long story', 0);
    const followed = attach(cluster.client, runId);
    await followed.next();
    await cluster.kill('orchestrator', 'SIGKILL');
    await cluster.startOrchestrator();
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    const cause = { reason: StageFaultReason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST, component: 'token-endpoint' };
    expect(await getRun(cluster.client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_FAULTED, cause });
    expect((await answerOf(attach(cluster.client, runId))).end).toMatchObject({ $case: 'fault', value: cause });
    expect(await cluster.end()).toEqual([]);
  });

  it('that is stopped ends STOPPED, and who follows it is told', async () => {
    const cluster = await startCluster(three);
    const runId = await oneShot(cluster, 'stopped', 'tell me a long story', 0);
    const followed = attach(cluster.client, runId);
    await followed.next();
    await unaryCall(cluster.client, Service.stopRun, { runId });
    await expect(answerOf(followed)).rejects.toMatchObject({ reason: 'ANSWER_CUT_OFF' });
    await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
    expect(await getRun(cluster.client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_STOPPED });
    expect(await cluster.end()).toEqual([]);
  });
});
