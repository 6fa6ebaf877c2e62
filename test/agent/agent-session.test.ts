import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Hello, Hello as HelloCodec, type Welcome } from '../../gen/stageplane/v1/node_agent_service.js';
import { LoadProgress_Phase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { AgentSession } from '../../src/agent/agent-session.js';
import { limits } from '../../src/core/limits.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { Mailbox } from './mailbox.js';
import { ScriptedOrchestrator } from './scripted-orchestrator.js';
import { provisionOf, stopOf } from './start-agent.js';

const hello: Hello = HelloCodec.fromPartial({
  name: 'alpha',
  instanceId: 'i1',
  processId: 'p1',
  protocolMin: 1,
  protocolMax: 1,
});

/** A session as someone's own agent would open it, and the other side of it. */
async function open() {
  const orchestrator = await ScriptedOrchestrator.open();
  const heard = new Mailbox<string>();
  const welcomes = new Mailbox<Welcome>();
  const session = new AgentSession({
    address: orchestrator.address,
    callbacks: {
      onWelcome: (welcome) => welcomes.put(welcome),
      onProvision: ({ deliveryId }) => heard.put(`provision ${deliveryId}`),
      onStop: ({ stageIndex }) => heard.put(`stop ${stageIndex}`),
      onReportAck: (ids) => heard.put(`acknowledged ${ids.join()}`),
      onHeartbeatAck: (sequence) => heard.put(`heartbeat ${sequence}`),
      onReconciled: () => heard.put('reconciled'),
      onLogRequest: ({ requestId }) => heard.put(`log ${requestId}`),
    },
  });
  onTestFinished(() => session.close('the test is over'));
  session.hello(hello);
  return { session, heard, welcomes, other: await orchestrator.session(1) };
}

describe('an agent session', () => {
  it('passes each message of the orchestrator on, in order', async () => {
    const { heard, welcomes, other } = await open();
    expect(await other.welcome()).toEqual(hello);
    other.say({ $case: 'provision', value: provisionOf('m.gguf') });
    other.say({ $case: 'stop', value: stopOf() });
    other.say({ $case: 'reportAck', value: { reportIds: [1n, 2n] } });
    other.say({ $case: 'heartbeatAck', value: { sequence: 3n } });
    other.call.write({});
    other.say({ $case: 'logRequest', value: { requestId: 4n, runId: 1n, stageIndex: 0, generation: 1, maxLines: 1 } });
    await heard.find((line) => line === 'log 4');
    expect(heard.all).toEqual(['reconciled', 'provision 1', 'stop 0', 'acknowledged 1,2', 'heartbeat 3', 'log 4']);
    expect(welcomes.all).toMatchObject([{ clusterId: 'c1', nodeId: 2n }]);
  });

  it('says what an agent has to say, in order', async () => {
    const { session, other } = await open();
    const key = { runId: 7n, stageIndex: 0, generation: 1 };
    session.ack(1n);
    session.nack(2n, { reason: StageFaultReason.STAGE_FAULT_REASON_NODE_FULL, message: 'full', logTail: [] });
    session.report({ ...key, reportId: 1n, report: { $case: 'stopped', value: {} } });
    session.heartbeat(1n, [{ deviceId: 'cpu', freeBytes: 5n, residentBytes: 6n }]);
    session.log({ requestId: 3n, lines: ['x'] });
    session.goodbye('done');
    await other.ended;
    expect(other.heard.all.map(({ $case }) => $case)).toEqual([
      'hello',
      'ack',
      'nack',
      'report',
      'heartbeat',
      'log',
      'goodbye',
    ]);
    expect(await session.ended).toEqual({ kind: 'closed', why: 'done' });
    session.ack(9n);
  });

  it('ends with the reason of a refusal', async () => {
    const { session, other } = await open();
    other.fail(new RpcError(status.ALREADY_EXISTS, 'NAME_TAKEN', 'the name "alpha" is taken'));
    expect(await session.ended).toMatchObject({
      kind: 'failed',
      error: { reason: 'NAME_TAKEN', message: 'the name "alpha" is taken' },
    });
  });

  it('ends when nobody is there', async () => {
    const callbacks = { onProvision: () => {}, onStop: () => {} };
    const session = new AgentSession({ address: '127.0.0.1:1', callbacks });
    session.hello(hello);
    expect(await session.ended).toMatchObject({ kind: 'failed', error: { reason: 'UNAVAILABLE' } });
  });

  it('ends when the orchestrator has no more to say', async () => {
    const { session, other } = await open();
    await other.welcome();
    other.call.end();
    expect(await session.ended).toEqual({ kind: 'ended' });
  });

  it('goes away when it is sent away, for a bounded time', async () => {
    const { session, other } = await open();
    await other.welcome();
    other.say({ $case: 'goAway', value: { retryDelayMillis: 2n ** 60n, reason: 'upgrade' } });
    expect(await session.ended).toEqual({
      kind: 'sent-away',
      retryDelayMillis: limits.goAwayMillis,
      reason: 'upgrade',
    });
  });

  it('holds a bounded number of messages for one that does not read, and drops progress before that (I16)', async () => {
    const { session, other } = await open();
    await other.hear('hello');
    other.call.pause();
    const key = { runId: 7n, stageIndex: 0, generation: 1 };
    const progress = { phase: LoadProgress_Phase.PHASE_BYTES, bytesDone: 1n, bytesTotal: 2n };
    const loading = () => session.report({ ...key, reportId: 0n, report: { $case: 'loading', value: progress } });
    for (let count = 0; count < 3 * limits.queuedPerSession; count += 1) loading();
    // Nothing follows it that would say the same.
    const waiting = { ...progress, phase: LoadProgress_Phase.PHASE_WAITING_EDGES };
    session.report({ ...key, reportId: 0n, report: { $case: 'loading', value: waiting } });
    session.heartbeat(1n, []);
    other.call.resume();
    await other.hear('heartbeat');
    expect(other.heard.all.at(-2)).toMatchObject({ value: { report: { value: waiting } } });
    expect(other.heard.all.length).toBeLessThan(limits.queuedPerSession);

    other.call.pause();
    const lines = ['z'.repeat(512)];
    for (let count = 0; count < 3 * limits.queuedPerSession; count += 1) session.log({ requestId: 1n, lines });
    expect(await session.ended).toMatchObject({ kind: 'closed', why: expect.stringContaining('reads too slowly') });
  });
});
