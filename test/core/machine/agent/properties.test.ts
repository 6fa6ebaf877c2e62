import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentEffect } from '../../../../src/core/machine/agent/effects.js';
import { stageName } from '../../../../src/core/machine/agent/state.js';
import type { StageKey } from '../../../../src/core/machine/state.js';
import { Driver, delivery, footprint, keyOf, rules, short } from './driver.js';

/** One thing that happens, in small numbers so that the same stage is met again and again. */
const happening = fc.oneof(
  fc.record({
    kind: fc.constant('provision' as const),
    run: fc.bigInt(1n, 2n),
    stages: fc.uniqueArray(fc.integer({ min: 0, max: 1 }), { minLength: 1 }),
    generation: fc.integer({ min: 1, max: 3 }),
    epoch: fc.bigInt(1n, 3n),
    threads: fc.integer({ min: 1, max: 2 }),
    stale: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('stop' as const), key: key(), epoch: fc.bigInt(1n, 3n) }),
  fc.record({ kind: fc.constantFrom('ready' as const, 'exit' as const, 'break' as const), key: key() }),
  fc.record({ kind: fc.constant('acknowledge' as const), report: fc.nat({ max: 9 }) }),
  fc.record({ kind: fc.constantFrom('reconnect' as const, 'disconnect' as const, 'beat' as const, 'answer' as const) }),
  fc.record({ kind: fc.constant('wait' as const), millis: fc.constantFrom(1000, 400_000) }),
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

function key(): fc.Arbitrary<StageKey> {
  return fc
    .tuple(fc.bigInt(1n, 2n), fc.integer({ min: 0, max: 1 }), fc.integer({ min: 1, max: 3 }))
    .map(([run, index, generation]) => keyOf(run, index, generation));
}

/** The world around the agent: real processes live from `start-worker` to the exit that the world decides on. */
class World {
  readonly agent = new Driver({ ...rules, maxStages: 6 });
  readonly alive = new Map<string, StageKey>();
  /** Reports that were said and not acknowledged, by id. */
  readonly owed = new Map<bigint, string>();
  highestActed = 1n;

  happen(event: Happening): void {
    this.agent.effects = [];
    switch (event.kind) {
      case 'provision': {
        const { run, stages, generation, epoch, threads, stale } = event;
        const session = stale ? this.agent.session - 1 : this.agent.session;
        const message = delivery(run, stages, { generation, epoch, threads });
        const models = stages.map(() => ({ kind: 'found', path: '/m' }) as const);
        const before = this.agent.state;
        this.agent.take({ kind: 'provision-delivered', session, delivery: message, models });
        const tooOld =
          epoch < before.identity.highestEpoch ||
          [...before.stages.values()].some(
            (held) =>
              held.key.runId === run && stages.includes(held.key.stageIndex) && held.key.generation > generation,
          );
        if (tooOld) expect(started(this.agent.effects)).toEqual([]);
        break;
      }
      case 'stop': {
        const before = this.agent.state;
        this.agent.stop(event.key, event.epoch);
        if (event.epoch < before.identity.highestEpoch && this.agent.now < 300_000) {
          expect(this.agent.state.stages).toEqual(before.stages);
        }
        break;
      }
      case 'ready':
        if (this.alive.has(stageName(event.key))) this.agent.take({ kind: 'worker-ready', key: event.key, footprint });
        break;
      case 'break':
        if (this.alive.has(stageName(event.key)))
          this.agent.take({
            kind: 'worker-failed',
            key: event.key,
            failure: { kind: 'silent', waited: 1 },
            logTail: [],
          });
        break;
      case 'exit':
        if (this.alive.delete(stageName(event.key))) this.agent.exit(event.key, 1);
        break;
      case 'acknowledge': {
        const id = [...this.owed.keys()][event.report];
        if (id === undefined || this.agent.state.contact.kind !== 'joined') break;
        this.owed.delete(id);
        this.agent.acknowledge(id);
        break;
      }
      case 'reconnect':
        this.agent.open();
        this.agent.welcome({ epoch: this.agent.state.identity.highestEpoch || 1n });
        // Everything that is owed is said again after each Welcome (I19).
        for (const id of this.owed.keys()) expect(this.agent.did().join()).toContain(`#${id}`);
        break;
      case 'disconnect':
        this.agent.take({ kind: 'stream-ended', session: this.agent.session });
        break;
      case 'beat':
        this.agent.take({ kind: 'heartbeat-due', usage: [], stages: [] });
        break;
      case 'answer':
        this.agent.take({ kind: 'heartbeat-acknowledged', session: this.agent.session, sequence: 1n });
        break;
      case 'wait':
        this.agent.now += event.millis;
        this.agent.take({ kind: 'lease-due' });
    }
    this.settle();
  }

  /** Does what the effects say, and holds the invariants against it. */
  private settle(): void {
    const { agent } = this;
    let persisted = false;
    for (const effect of agent.effects) {
      if (effect.kind === 'persist-identity') persisted = true;
      if (effect.kind === 'start-worker') this.start(effect.key);
    }
    // A new epoch is on disk before anything is sent under it (I5).
    if (agent.state.identity.highestEpoch > this.highestActed) expect(persisted).toBe(true);
    this.highestActed = agent.state.identity.highestEpoch;
    for (const [id, report] of agent.state.reports)
      if (!this.owed.has(id)) this.owed.set(id, report.report?.$case ?? '');
    // Every report is kept until it is acknowledged (I19), and nothing else is.
    expect([...agent.state.reports.keys()].sort()).toEqual([...this.owed.keys()].sort());
    for (const held of agent.state.stages.values()) {
      // `stopped` is said only when no process is left, and a process is remembered for as long as it lives (I18).
      expect(held.worker === 'alive').toBe(this.alive.has(stageName(held.key)));
    }
    for (const name of this.alive.keys()) expect(agent.state.stages.has(name)).toBe(true);
    expect(agent.state.stages.size).toBeLessThanOrEqual(6);
  }

  private start(started: StageKey): void {
    for (const other of this.alive.values()) {
      // At most one live worker per stage, whatever its generation (I3).
      const same = other.runId === started.runId && other.stageIndex === started.stageIndex;
      expect(same, `${short(started)} beside ${short(other)}`).toBe(false);
    }
    this.alive.set(stageName(started), started);
  }
}

function started(effects: readonly AgentEffect[]): AgentEffect[] {
  return effects.filter(({ kind }) => kind === 'start-worker');
}

it('holds its invariants, whatever happens in whatever order', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (events) => {
      const world = new World();
      world.agent.join();
      for (const event of events) world.happen(event);
    }),
    { numRuns: 600 },
  );
});

it('never leaves a stage without an end, once every worker exits and every report is heard (I17, I19)', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), (events) => {
      const world = new World();
      world.agent.join();
      for (const event of events) world.happen(event);
      world.happen({ kind: 'reconnect' });
      world.agent.take({ kind: 'leave-requested', reason: 'the end' });
      for (const live of world.alive.values()) world.agent.exit(live);
      for (const id of [...world.agent.state.reports.keys()]) world.agent.acknowledge(id);
      expect(world.agent.state.leaving).toBe('left');
      expect(world.agent.state.stages.size).toBe(0);
    }),
    { numRuns: 200 },
  );
});
