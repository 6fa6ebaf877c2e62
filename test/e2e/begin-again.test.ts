import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { Child, stageplane } from '../cli/child.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { answerOf, generate } from './ask.js';
import { Cluster } from './cluster.js';
import { storyModel, storyPrompt } from './story.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;

describe('a run that may begin again', () => {
  it('comes back on the nodes that remain when an agent is killed, says the same text, and moves off a drained node', async () => {
    const cluster = await Cluster.start(['alpha', 'beta', 'gamma'], { flags: ['--grace', '500ms'], ownWorkers: true });
    const at = ['--orchestrator', cluster.address];
    const words = ['run', cluster.model, '--engine', 'fixture', '--stages', '2', '--restarts', '5', '--until', 'ready'];
    const started = await stageplane([...words, '--restart-backoff', '10ms', ...at]);
    expect(started).toMatchObject({ code: 0, stdout: expect.stringContaining('run 1 is RUNNING') });
    const text = async () => (await answerOf(generate(cluster.client, 1n, 'Why?', 12))).text;
    const before = await text();

    const victim = (await getRun(cluster.client, 1n)).stages[1]?.nodeName ?? '';
    const watching = new Child(['runs', 'watch', '1', ...at]);
    await cluster.kill(victim, 'SIGKILL');
    await watching.shown('stdout', 'generation 2 on');
    await watchUntil(cluster.client, 1n, RUN_PHASE_RUNNING, (await getRun(cluster.client, 1n)).revision - 1n);
    const second = await getRun(cluster.client, 1n);
    expect(second).toMatchObject({ generation: 2, lastCause: { nodeName: victim } });
    expect(second.stages.map(({ nodeName }) => nodeName)).not.toContain(victim);
    expect(await text()).toBe(before);

    cluster.startAgent(victim);
    await nodesReady(cluster.client, 3);
    const drained = second.stages[0]?.nodeName ?? '';
    expect(await stageplane(['nodes', 'drain', drained, ...at])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${drained} is drained: no stage is left`),
    });
    await watchUntil(cluster.client, 1n, RUN_PHASE_RUNNING, (await getRun(cluster.client, 1n)).revision - 1n);
    const third = await getRun(cluster.client, 1n);
    expect(third).toMatchObject({
      generation: 3,
      restarts: 1,
      lastCause: { reason: StageFaultReason.STAGE_FAULT_REASON_NODE_DRAINED, nodeName: drained },
    });
    expect(third.stages.map(({ nodeName }) => nodeName)).not.toContain(drained);
    expect(await text()).toBe(before);

    expect((await stageplane(['runs', 'stop', '1', ...at])).code).toBe(0);
    expect((await watching.end()).stdout).toContain('generation 3 on');
    expect(await cluster.end()).toEqual([]);
  });

  it('moves off a drained node once the answer that is under way has ended, and begins none meanwhile', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { tiny: storyModel, ownWorkers: true });
    const { client } = cluster;
    const at = ['--orchestrator', cluster.address];
    const words = ['run', cluster.model, '--engine', 'fixture', '--stages', '1', '--restarts', '1', '--until', 'ready'];
    const context = ['--context', String(storyModel.contextLength)];
    expect(await stageplane([...words, ...context, ...at])).toMatchObject({ code: 0 });
    const [stage] = (await getRun(client, 1n)).stages;
    const { nodeId = 0n, nodeName = '' } = stage ?? {};

    const asked = generate(client, 1n, storyPrompt, 2000)[Symbol.asyncIterator]();
    await asked.next();
    const draining = new Child(['nodes', 'drain', nodeName, ...at]);
    await draining.shown('stdout', 'moves once its answers have ended');
    await expect(answerOf(generate(client, 1n, 'Why?', 12))).rejects.toMatchObject({
      code: status.UNAVAILABLE,
      reason: 'RUN_MOVING',
    });
    const { end } = await answerOf({ [Symbol.asyncIterator]: () => asked });
    expect(end).toMatchObject({ $case: 'done', value: { reason: TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS } });

    expect(await draining.end()).toMatchObject({ code: 0, stdout: expect.stringContaining('is drained') });
    await watchUntil(client, 1n, RUN_PHASE_RUNNING, (await getRun(client, 1n)).revision - 1n);
    const moved = await getRun(client, 1n);
    expect(moved).toMatchObject({ generation: 2, restarts: 0 });
    expect(moved.stages.map((stage) => stage.nodeId)).not.toContain(nodeId);
    expect((await answerOf(generate(client, 1n, 'Why?', 12))).tokenIds.length).toBeGreaterThan(0);
    expect(await cluster.end()).toEqual([]);
  });

  it('answers its prompt in the end, although the orchestrator is killed in the middle of it', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { tiny: storyModel, ownWorkers: true });
    const at = ['--orchestrator', cluster.address];
    const words = ['run', cluster.model, '--engine', 'fixture', '--stages', '2', '--restarts', '5', '--prompt', 'the'];
    const asking = new Child([...words, '--context', String(storyModel.contextLength), '--max-tokens', '2000', ...at]);
    await asking.shown('stdout', 64);
    await cluster.kill('orchestrator', 'SIGKILL');
    await cluster.startOrchestrator();
    await watchUntil(cluster.client, 1n, RUN_PHASE_DONE);
    expect(await getRun(cluster.client, 1n)).toMatchObject({
      outcome: RunOutcome.RUN_OUTCOME_COMPLETED,
      generation: 2,
      lastCause: { reason: StageFaultReason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST },
    });
    const { code, stderr } = await asking.end();
    expect([code, stderr]).toEqual([0, expect.stringMatching(/2000 tokens/)]);
    expect(await cluster.end()).toEqual([]);
  });
});
