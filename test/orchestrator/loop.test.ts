import { status } from '@grpc/grpc-js';
import pino from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { millis, nodeId, runId, sessionId, wallMillis } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import type { Draft } from '../../src/core/machine/draft.js';
import type { ClusterEvent } from '../../src/core/machine/events.js';
import { defaultTimings } from '../../src/core/machine/timings.js';
import { openWorld } from '../../src/core/machine/world.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import { systemClock } from '../../src/orchestrator/clock.js';
import { Loop } from '../../src/orchestrator/loop.js';
import { sha256 } from '../../src/orchestrator/sha256.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { StoreError } from '../../src/store/store-error.js';
import { sampleHello, samplePlan } from '../core/machine/samples.js';
import { storedFrom } from '../core/machine/world-in-memory.js';

/** A loop whose store can be told to fail, and that writes down what it performed and in which order. */
function startLoop() {
  const diary: string[] = [];
  const abandoned: { events: readonly ClusterEvent[]; error: RpcError }[] = [];
  const inner = new MemoryStore({ newClusterId: () => 'cluster-a' });
  let failure: StoreError | undefined;
  const store: Store = {
    load: () => inner.load(),
    commit: (...turn) => {
      if (failure) throw failure;
      diary.push('commit');
      inner.commit(...turn);
    },
    addAudit: (records) => inner.addAudit(records),
    auditRecords: (query) => inner.auditRecords(query),
    runEvents: (...args) => inner.runEvents(...args),
    events: (...args) => inner.events(...args),
    revisionBeforeLast: (...args) => inner.revisionBeforeLast(...args),
    answer: () => undefined,
    checkpoint: () => inner.checkpoint(),
    isBackup: false,
    backup: (...args) => inner.backup(...args),
    close: () => inner.close(),
  };
  let now = 1000;
  let perLook = 0;
  const look = () => {
    now += perLook;
    return millis(now);
  };
  const clock = { ...systemClock, now: look, wall: () => wallMillis(now) };
  const { world } = openWorld(inner.load(), clock.now(), defaultTimings);
  const performer = {
    perform: (turn: Draft) => {
      for (const effect of turn.effects) {
        diary.push(effect.kind);
        if (effect.kind === 'answer') loop.calls.answer(effect.call, effect.answer);
      }
    },
    abandon: (events: readonly ClusterEvent[], error: RpcError) => void abandoned.push({ events, error }),
  };
  const loop = new Loop(world, store, { timings: defaultTimings, sha256 }, clock, performer, pino({ level: 'silent' }));
  onTestFinished(() => loop.stop());
  return {
    loop,
    diary,
    abandoned,
    store: inner,
    fail: (error?: StoreError) => {
      failure = error;
    },
    sleep: (milliseconds: number) => {
      now += milliseconds;
    },
    /** From now on everything takes so long. */
    slowDown: (milliseconds: number) => {
      perLook = milliseconds;
    },
  };
}

const create = (loop: Loop, requestId: string) =>
  loop.request(
    (call) => ({
      kind: 'run-requested',
      call,
      request: { requestId, digest: requestId, plan: samplePlan([2n]) },
    }),
    {},
  );

const join = (loop: Loop) =>
  loop.post({ kind: 'hello-received', session: sessionId('s'), hello: sampleHello('alpha') });

describe('the loop', () => {
  it('commits before it performs, once for all that arrived (I4)', async () => {
    const { loop, diary } = startLoop();
    join(loop);
    await Promise.all([create(loop, 'a'), create(loop, 'b')]);
    expect(diary[0]).toBe('commit');
    expect(diary.filter((entry) => entry === 'commit')).toHaveLength(1);
  });

  it('takes no further event once a turn has taken its time, and all of them in order in the end', async () => {
    const { loop, diary, slowDown } = startLoop();
    join(loop);
    await create(loop, 'first');
    diary.length = 0;
    slowDown(limits.turnStepMillis / 2);
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => create(loop, id)));
    expect(answers.map((answer) => answer.kind === 'run' && answer.runId)).toEqual([2n, 3n, 4n, 5n, 6n]);
    expect(diary.filter((entry) => entry === 'commit')).toHaveLength(3);
    slowDown(10 * limits.turnStepMillis);
    await Promise.all([create(loop, 'f'), create(loop, 'g')]);
    expect(diary.filter((entry) => entry === 'commit')).toHaveLength(5);
  });

  it('fails only what a turn had taken when it could not be committed', async () => {
    const { loop, abandoned, slowDown, fail } = startLoop();
    join(loop);
    await create(loop, 'first');
    slowDown(10 * limits.turnStepMillis);
    fail(new StoreError('disk-full', '/data', ''));
    const [a, b] = [create(loop, 'a'), create(loop, 'b')];
    await expect(a).rejects.toMatchObject({ reason: 'STORE_FAILED' });
    fail();
    await expect(b).resolves.toMatchObject({ kind: 'run', runId: 2n });
    expect(abandoned.map(({ events }) => events.length)).toEqual([1]);
  });

  it('sends what one turn had no room for in the next, also after a commit that failed', async () => {
    const { loop, diary, abandoned, fail } = startLoop();
    const nodes = Array.from({ length: limits.nodesPerTurn + 3 }, (_, at) => at);
    for (const at of nodes) {
      loop.post({ kind: 'hello-received', session: sessionId(`${at}`), hello: sampleHello(`node-${at}`) });
    }
    const plan = samplePlan(nodes.map((at) => BigInt(at + 2)));
    const facts = { ...plan.facts!, numLayers: nodes.length };
    const request = { requestId: 'wide', digest: 'wide', plan: { ...plan, facts } };
    const sent = () => diary.filter((entry) => entry === 'send').length;
    await loop.request((call) => ({ kind: 'run-requested', call, request }), {});
    // A welcome, and that it is reconciled, to each.
    const greetings = 2 * nodes.length;
    expect(sent()).toBe(greetings + limits.nodesPerTurn);
    fail(new StoreError('disk-full', '/data', ''));
    await vi.waitFor(() => expect(abandoned).toHaveLength(1), 10_000);
    expect(loop.world.undispatched).toHaveLength(3);
    fail();
    await vi.waitFor(() => expect(loop.world.undispatched).toEqual([]), 10_000);
    expect(sent()).toBe(greetings + nodes.length);
  });

  it('leaves memory as it was when a commit fails, and goes on afterwards', async () => {
    const { loop, abandoned, store, fail } = startLoop();
    join(loop);
    await create(loop, 'a');
    const before = storedFrom(loop.world);

    fail(new StoreError('disk-full', '/data', ''));
    await expect(create(loop, 'b')).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      reason: 'STORE_FAILED',
      message: /the disk of the data folder \/data is full.*free some space and try again/,
    });
    expect(storedFrom(loop.world)).toEqual(before);
    expect(abandoned).toHaveLength(1);

    fail();
    await expect(create(loop, 'b')).resolves.toMatchObject({ kind: 'run', runId: 2n });
    expect(store.load().runs).toHaveLength(2);
  });

  it('gives each event a turn of its own after a defect, so that only the guilty one is lost', async () => {
    const { loop, abandoned } = startLoop();
    join(loop);
    const poison = { kind: 'hello-received', session: sessionId('x'), hello: undefined } as unknown as ClusterEvent;
    loop.post(poison);
    await expect(create(loop, 'a')).resolves.toMatchObject({ kind: 'run' });
    expect(abandoned.map(({ events }) => events)).toEqual([[poison]]);
    expect(abandoned[0]?.error.message).toMatch(/^internal error, incident [0-9a-f]+/);
  });

  it('notices that it was away before it believes any silence', async () => {
    const { loop, sleep } = startLoop();
    join(loop);
    loop.post({ kind: 'session-ended', session: sessionId('s'), goodbye: false });
    await loop.request((call) => ({ kind: 'run-stop-requested', call, runId: runId(1n) }), {});
    expect(loop.world.contacts.get(nodeId(2n))?.graceEndsAt).toBe(1000 + defaultTimings.grace);

    sleep(defaultTimings.grace + 5000);
    loop.post({ kind: 'timer-fired', timer: { kind: 'grace', nodeId: nodeId(2n) } });
    await loop.request((call) => ({ kind: 'run-stop-requested', call, runId: runId(1n) }), {});
    await loop.request((call) => ({ kind: 'run-stop-requested', call, runId: runId(1n) }), {});
    expect(loop.world.contacts.get(nodeId(2n))).toMatchObject({ lost: false });
  });

  it('keeps a stall in mind when the turn that noticed it could not be committed', async () => {
    const { loop, sleep, fail } = startLoop();
    join(loop);
    loop.post({ kind: 'session-ended', session: sessionId('s'), goodbye: false });
    await loop.request((call) => ({ kind: 'run-stop-requested', call, runId: runId(1n) }), {});

    sleep(defaultTimings.grace + 5000);
    fail(new StoreError('disk-full', '/data', ''));
    loop.post({ kind: 'hello-received', session: sessionId('t'), hello: sampleHello('beta') });
    await new Promise((resolve) => setImmediate(resolve));
    fail();
    loop.post({ kind: 'timer-fired', timer: { kind: 'grace', nodeId: nodeId(2n) } });
    await loop.request((call) => ({ kind: 'run-stop-requested', call, runId: runId(1n) }), {});
    expect(loop.world.contacts.get(nodeId(2n))).toMatchObject({ lost: false });
  });

  it('takes in first what was posted so, although its first turn could not be committed', async () => {
    const { loop, abandoned, fail } = startLoop();
    fail(new StoreError('disk-full', '/data', ''));
    join(loop);
    loop.postFirst({ kind: 'orchestrator-started' });
    await new Promise((resolve) => setImmediate(resolve));
    fail();
    join(loop);
    await create(loop, 'a');
    expect(abandoned.map(({ events }) => events.map(({ kind }) => kind))).toEqual([
      ['orchestrator-started', 'hello-received'],
    ]);
    fail(new StoreError('disk-full', '/data', ''));
    await expect(create(loop, 'c')).rejects.toMatchObject({ reason: 'STORE_FAILED' });
    // Taken in by the turn between, and not again.
    expect(abandoned[1]?.events.map(({ kind }) => kind)).toEqual(['run-requested']);
  });

  it('refuses requests while too many events wait, and lets those who say much wait for room (I16)', async () => {
    const { loop } = startLoop();
    join(loop);
    const fired: ClusterEvent = { kind: 'timer-fired', timer: { kind: 'grace', nodeId: nodeId(9n) } };
    for (let waiting = 1; waiting < limits.queuedEvents - 1; waiting += 1) loop.post(fired);
    const last = create(loop, 'a');
    await expect(create(loop, 'b')).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: 'OVERLOADED' });
    const order: string[] = [];
    const room = loop.hasRoom().then(() => order.push('room'));
    await expect(last.finally(() => order.push('the last one'))).resolves.toMatchObject({ kind: 'run' });
    await room;
    expect(order).toEqual(['room', 'the last one']);
    await expect(create(loop, 'b')).resolves.toMatchObject({ kind: 'run' });
  });

  it('answers those who wait when it stops', async () => {
    const { loop } = startLoop();
    const waiting = create(loop, 'a');
    loop.stop();
    await expect(waiting).rejects.toMatchObject({ code: status.UNAVAILABLE, reason: 'SHUTTING_DOWN' });
  });
});
