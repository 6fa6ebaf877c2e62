import { describe, expect, it } from 'vitest';
import { StageFaultReason as Reason, type StageFault } from '../../../gen/stageplane/v1/run.js';
import { type TextAnswer, TextDone, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { millis, nodeId, runId, type SessionId, sessionId } from '../../../src/core/ids.js';
import { limits } from '../../../src/core/limits.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { step } from '../../../src/core/machine/step.js';
import { sampleHello, samplePlan } from './samples.js';
import { WorldInMemory } from './world-in-memory.js';

const alpha = sessionId('alpha-1');
const beta = sessionId('beta-1');
const run1 = { runId: runId(1n), generation: 1 };

/** Two stages, on alpha and beta; with a prompt the run is ONE_SHOT. */
function created(prompt = ''): WorldInMemory {
  const memory = new WorldInMemory();
  memory.step({ kind: 'hello-received', session: alpha, hello: sampleHello('alpha') });
  memory.step({ kind: 'hello-received', session: beta, hello: sampleHello('beta') });
  const request = { requestId: 'r', digest: 'r', plan: samplePlan([2n, 3n], prompt) };
  memory.step({ kind: 'run-requested', call: 1, request });
  return memory;
}

function running(prompt = ''): WorldInMemory {
  const memory = created(prompt);
  memory.step(ready(alpha, 0), ready(beta, 1), { kind: 'token-endpoint-ready', ...run1 });
  expect(memory.run(1).phase).toBe('RUNNING');
  return memory;
}

function ready(session: SessionId, stageIndex: number): ClusterEvent {
  const report = { $case: 'ready' as const, value: { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n } };
  return { kind: 'stage-reported', session, report: { reportId: 1n, ...run1, stageIndex, report } };
}

function fault(reason: Reason, message = 'it ended'): StageFault {
  return { reason, message, logTail: ['last line'] };
}

function answer(reason: TextDoneReason): TextAnswer {
  return { text: 'Once', tokenIds: [1], done: TextDone.create({ reason }) };
}

describe('a token endpoint', () => {
  it.each([
    [Reason.STAGE_FAULT_REASON_WORKER_START_FAILED, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_WORKER_EXITED, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_WORKER_PROTOCOL, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_WORKER_UNRESPONSIVE, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_EDGE_UNREACHABLE, Reason.STAGE_FAULT_REASON_EDGE_UNREACHABLE],
    [Reason.STAGE_FAULT_REASON_MODEL_INVALID, Reason.STAGE_FAULT_REASON_MODEL_INVALID],
    [Reason.STAGE_FAULT_REASON_OUT_OF_MEMORY, Reason.STAGE_FAULT_REASON_OUT_OF_MEMORY],
  ])('that is lost with %i ends the run with %i at once, and with its own sentence', (told, cause) => {
    const memory = running();
    memory.step({ kind: 'token-endpoint-lost', ...run1, fault: fault(told) });
    const { phase, cause: known } = memory.run(1);
    expect(phase).toBe('TEARING_DOWN');
    expect(known).toMatchObject({ component: 'token-endpoint', fixed: true, fault: { ...fault(cause) } });
    expect(known?.stageIndex ?? known?.nodeId).toBeUndefined();
    expect(memory.turn!.events.map(({ revision }) => revision)).toContain(known?.revision);
  });

  it('whose edge was closed is the cause only when nothing better comes within a second', () => {
    const memory = running();
    memory.step({ kind: 'token-endpoint-lost', ...run1, fault: fault(Reason.STAGE_FAULT_REASON_EDGE_CLOSED) });
    expect(memory.run(1).cause).toMatchObject({ component: 'token-endpoint', fixed: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({ component: 'token-endpoint', fixed: true });
  });

  it('of another generation, of no run, or one that was closed, changes nothing but a counter (I6)', () => {
    const memory = created();
    const strangers: ClusterEvent[] = [
      { kind: 'token-endpoint-ready', ...run1, generation: 2 },
      { kind: 'token-endpoint-ready', ...run1, runId: runId(9n) },
      { kind: 'token-endpoint-lost', ...run1, generation: 2, fault: fault(Reason.STAGE_FAULT_REASON_EDGE_CLOSED) },
    ];
    const before = memory.run(1);
    memory.step(...strangers);
    expect(memory.run(1)).toEqual(before);
    memory.step({ kind: 'run-stop-requested', call: 1, runId: run1.runId });
    const stopped = memory.run(1);
    memory.step({ kind: 'token-endpoint-ready', ...run1 });
    expect(memory.run(1)).toEqual(stopped);
    expect(memory.world.ignoredMessages).toBe(4);
  });

  it('that misses the deadline of edges is named with both its neighbours and what to check', () => {
    const memory = created();
    memory.step(ready(alpha, 0), ready(beta, 1));
    memory.pass(30_000);
    expect(memory.run(1).cause).toMatchObject({
      component: 'token-endpoint',
      fault: {
        reason: Reason.STAGE_FAULT_REASON_EDGE_DEADLINE,
        message:
          'the token endpoint of run 1 waited 30 s for its edges from stage 1 on node "beta" and to stage 0 on node "alpha", with every stage loaded: check --edge-listen on the node that is connected to, and --edge-address where it is connected from',
      },
    });
  });

  it('is not blamed while the node of a stage beside it is away', () => {
    const memory = created();
    memory.step(ready(alpha, 0), ready(beta, 1));
    memory.pass(20_000);
    memory.step({ kind: 'session-ended', session: beta, goodbye: false });
    memory.pass(20_000);
    memory.step({ kind: 'hello-received', session: sessionId('beta-2'), hello: heldBy('beta', 1) });
    memory.pass(29_999);
    expect(memory.run(1).phase).toBe('WAITING_READY');
    memory.pass(1);
    expect(memory.run(1).cause?.fault.reason).toBe(Reason.STAGE_FAULT_REASON_EDGE_DEADLINE);
  });
});

function heldBy(name: string, stageIndex: number) {
  return sampleHello(name, { clusterId: 'cluster-a', held: [{ ...run1, stageIndex, phase: 2 }] });
}

describe('an answer', () => {
  it.each([
    TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION,
    TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS,
    TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL,
    TextDoneReason.TEXT_DONE_REASON_CANCELLED,
    TextDoneReason.TEXT_DONE_REASON_SLOW_READER,
  ])('that ends with %i is in the same commit as the completion, and not in memory', (reason) => {
    const memory = running('Tell me a story.');
    const draft = memory.draft();
    step(draft, { kind: 'answer-ended', ...run1, answer: answer(reason) });
    const changes = draft.changes();
    expect(changes?.answers).toEqual([{ runId: 1n, answer: answer(reason) }]);
    expect(changes?.runs).toMatchObject([{ after: { phase: 'TEARING_DOWN', outcome: 'COMPLETED' } }]);
    draft.applyTo(memory.world);
    expect(JSON.stringify(memory.run(1), (_key, value) => String(value))).not.toContain('Once');
  });

  it('that breaks off is committed without any change of the run', () => {
    const memory = running('Tell me a story.');
    const draft = memory.draft();
    step(draft, { kind: 'answer-ended', ...run1, answer: answer(TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE) });
    expect(draft.changes()).toMatchObject({ runs: [], events: [], answers: [{ runId: 1n }] });
  });

  it('nobody waits for is ignored: of a SERVING run, before the barrier, of another generation, after the true one', () => {
    const ended = answer(TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
    const early = created('Tell me a story.');
    const serving = running();
    const completed = running('Tell me a story.');
    completed.step({ kind: 'answer-ended', ...run1, answer: ended });
    for (const memory of [early, serving, completed]) {
      const before = memory.run(1);
      memory.step({ kind: 'answer-ended', ...run1, answer: ended });
      memory.step({ kind: 'answer-ended', ...run1, generation: 2, answer: ended });
      memory.step({ kind: 'answer-failed', ...run1, fault: fault(Reason.STAGE_FAULT_REASON_PROMPT_REFUSED) });
      expect(memory.run(1)).toEqual(before);
      expect(memory.world.ignoredMessages).toBe(3);
      expect(memory.turn!.answers.size).toBe(0);
    }
  });

  it('that cannot be given ends the run with the reason it was told', () => {
    const memory = running('Tell me a story.');
    const refused = fault(Reason.STAGE_FAULT_REASON_PROMPT_REFUSED, 'the prompt has 5000 tokens');
    memory.step({ kind: 'answer-failed', ...run1, fault: refused });
    expect(memory.run(1)).toMatchObject({ phase: 'TEARING_DOWN', outcome: 'FAULTED' });
    expect(memory.run(1).cause).toMatchObject({ component: 'token-endpoint', fixed: true, fault: refused });
  });
});

describe('a silent node', () => {
  const complaint = (text: string): ClusterEvent => {
    const report = { $case: 'fault' as const, value: fault(Reason.STAGE_FAULT_REASON_EDGE_CLOSED, text) };
    return { kind: 'stage-reported', session: alpha, report: { reportId: 2n, ...run1, stageIndex: 0, report } };
  };

  it('is the cause, with what its neighbour said, within the bounds of a sentence', () => {
    const memory = running();
    memory.step(complaint('edge 2 was closed'), { kind: 'session-ended', session: beta, goodbye: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({
      fault: {
        reason: Reason.STAGE_FAULT_REASON_PEER_LOST,
        message: 'node "beta" went out of contact, and stage 1 with it: edge 2 was closed',
      },
      stageIndex: 1,
      nodeId: nodeId(3n),
      component: 'agent',
      fixed: true,
    });
    const long = running();
    long.step(complaint('x'.repeat(1024)), { kind: 'session-ended', session: beta, goodbye: false });
    long.pass(1000);
    expect(long.run(1).cause?.fault.message).toHaveLength(limits.faultMessageBytes);
  });

  it('is not the cause when it is the one that complained, nor when it is back in time', () => {
    const memory = running();
    memory.step(complaint('edge 2 was closed'), { kind: 'session-ended', session: alpha, goodbye: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({ stageIndex: 0, fault: { message: 'edge 2 was closed' } });

    const back = running();
    back.step(complaint('edge 2 was closed'), { kind: 'session-ended', session: beta, goodbye: false });
    back.step({ kind: 'hello-received', session: sessionId('beta-2'), hello: heldBy('beta', 1) });
    back.pass(1000);
    expect(back.run(1).cause).toMatchObject({ stageIndex: 0, component: 'worker' });
  });

  it('is not the cause when its stage was stopped before', () => {
    const memory = running();
    memory.step(complaint('edge 2 was closed'));
    const stopped = { reportId: 3n, ...run1, stageIndex: 1, report: { $case: 'stopped' as const, value: {} } };
    memory.step({ kind: 'stage-reported', session: beta, report: stopped });
    memory.step({ kind: 'session-ended', session: beta, goodbye: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({ stageIndex: 0 });
  });
});

describe('what a stage holds', () => {
  const heartbeat = (session: SessionId, heldTokens: bigint, stageIndex: number, generation = 1): ClusterEvent => {
    const stages = [{ ...run1, generation, stageIndex, usage: { heldSessions: 1, heldTokens } }];
    return { kind: 'heartbeat-received', session, sequence: 1n, usage: [], stages };
  };
  const held = (memory: WorldInMemory) => memory.run(1).stages.map(({ volatile }) => volatile.usage?.heldTokens);

  it('is the newest word of its own node, costs no commit, and outlives a heartbeat that is silent about it', () => {
    const memory = running();
    memory.step(heartbeat(alpha, 5n, 0));
    expect(memory.turn!.changes()).toBeUndefined();
    memory.step(heartbeat(alpha, 7n, 0), heartbeat(beta, 9n, 1));
    memory.step({ kind: 'heartbeat-received', session: alpha, sequence: 2n, usage: [], stages: [] });
    expect(held(memory)).toEqual([7n, 9n]);
  });

  it('is not what another node, another generation or a stage before READY says', () => {
    const memory = running();
    memory.step(heartbeat(alpha, 5n, 1), heartbeat(alpha, 6n, 0, 2), heartbeat(alpha, 6n, 9));
    expect(held(memory)).toEqual([undefined, undefined]);
    const loading = created();
    loading.step(heartbeat(alpha, 5n, 0));
    expect(held(loading)).toEqual([undefined, undefined]);
  });
});

describe('a stage that waits for its edges', () => {
  const loading = (phase: number, bytesDone: bigint, session = alpha, stageIndex = 0): ClusterEvent => {
    const report = { $case: 'loading' as const, value: { phase, bytesDone, bytesTotal: 9n } };
    return { kind: 'stage-reported', session, report: { reportId: 0n, ...run1, stageIndex, report } };
  };

  it('is named with its neighbours and what to check when they do not come up', () => {
    const memory = created();
    memory.step(ready(beta, 1), loading(2, 9n));
    memory.pass(30_000);
    expect(memory.run(1).cause).toMatchObject({
      stageIndex: 0,
      component: 'orchestrator',
      fault: {
        reason: Reason.STAGE_FAULT_REASON_EDGE_DEADLINE,
        message:
          'stage 0 of run 1 on node "alpha" waited 30 s for its edges from the token endpoint and to stage 1 on node "beta", with every stage loaded: check --edge-listen on the node that is connected to, and --edge-address where it is connected from',
      },
    });
  });

  it('has its load deadline again when it turns out that it still loads', () => {
    const memory = created();
    memory.step(loading(2, 9n), { kind: 'delivery-acked', session: beta, deliveryId: 1n });
    memory.pass(50_000);
    memory.step(loading(1, 1n, beta, 1));
    memory.pass(40_000);
    memory.step(loading(1, 3n), ready(beta, 1));
    memory.pass(59_999);
    expect(memory.run(1).phase).toBe('WAITING_READY');
    memory.pass(1);
    expect(memory.run(1).cause?.fault.reason).toBe(Reason.STAGE_FAULT_REASON_LOAD_DEADLINE);
  });

  it('has them from the moment it waits, when the loads of all had ended and begun again', () => {
    const memory = created();
    memory.step(ready(beta, 1), loading(2, 9n));
    memory.pass(20_000);
    memory.step(loading(1, 3n));
    memory.pass(20_000);
    memory.step(loading(2, 9n));
    memory.pass(29_999);
    expect(memory.run(1).phase).toBe('WAITING_READY');
    memory.pass(1);
    expect(memory.run(1).cause?.fault.reason).toBe(Reason.STAGE_FAULT_REASON_EDGE_DEADLINE);
  });
});

describe('a run', () => {
  it('remembers over a restart what its plan promised of its arithmetic, and no token endpoint', () => {
    const memory = running();
    expect(memory.run(1)).toMatchObject({ fidelity: 'same-kernels', volatile: { endpoint: 'ready' } });
    memory.restart();
    expect(memory.run(1)).toMatchObject({ fidelity: 'same-kernels', volatile: {} });
    expect(memory.run(1).volatile).toEqual({});
  });

  it('whose stages are loaded has its deadline from that moment', () => {
    const memory = created();
    memory.pass(5000);
    memory.step(ready(alpha, 0), ready(beta, 1));
    expect(memory.run(1).volatile.loadedSince).toBe(millis(6000));
  });
});
