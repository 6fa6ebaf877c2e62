import { createHash } from 'node:crypto';
import { millis, nodeId, type RunId, revision, runId, wallMillis } from '../../../src/core/ids.js';
import { Draft } from '../../../src/core/machine/draft.js';
import type { Effect } from '../../../src/core/machine/effects.js';
import type { ClusterEvent, Timer } from '../../../src/core/machine/events.js';
import type { ClusterState, RunState, StoredWorld, World } from '../../../src/core/machine/state.js';
import { finishTurn, step } from '../../../src/core/machine/step.js';
import { defaultTimings, type Timings } from '../../../src/core/machine/timings.js';
import { withoutVolatile } from '../../../src/core/machine/without-volatile.js';
import { openWorld } from '../../../src/core/machine/world.js';

/** A world on a virtual clock, with a store that is a copy of its durable part. No process, no socket, no sleep. */
export class WorldInMemory {
  world: World;
  now = 1000;
  /** Milliseconds that the wall clock shows beyond `now`. */
  wallAhead = 0;
  /** Effects of the last turn. */
  effects: Effect[] = [];
  /** The last turn's draft. */
  turn: Draft | undefined;
  readonly timings: Timings;
  private timers = new Map<string, { timer: Timer; at: number }>();

  constructor(timings: Partial<Timings> = {}) {
    this.timings = { ...defaultTimings, ...timings };
    const cluster = {
      clusterId: 'cluster-a',
      epoch: 1n,
      revision: revision(0n),
      nextRunId: runId(1n),
      nextNodeId: nodeId(2n),
      goneNodeId: nodeId(1n),
    };
    this.world = this.open({
      cluster,
      nodes: [],
      runs: [],
      requests: [],
      footprints: [],
      tokens: [],
      certificates: [],
      keys: [],
    });
  }

  /** One turn of the loop. */
  step(...events: ClusterEvent[]): Effect[] {
    const draft = this.draft();
    for (const event of events) step(draft, event);
    finishTurn(draft);
    draft.changes();
    draft.applyTo(this.world);
    this.turn = draft;
    this.take(draft.effects);
    return draft.effects;
  }

  draft(): Draft {
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    return new Draft(this.world, millis(this.now), wallMillis(this.now + this.wallAhead), {
      timings: this.timings,
      sha256,
    });
  }

  /** The next timer that is due until `deadline`, and the time of it. */
  nextTimer(deadline: number): Timer | undefined {
    const due = [...this.timers.entries()].filter(([, { at }]) => at <= deadline).sort((a, b) => a[1].at - b[1].at)[0];
    if (!due) return undefined;
    this.timers.delete(due[0]);
    this.now = Math.max(this.now, due[1].at);
    return due[1].timer;
  }

  /** Lets time pass; every timer that comes due is a turn of its own. */
  pass(milliseconds: number, onTurn: () => void = () => {}): void {
    const deadline = this.now + milliseconds;
    for (let timer = this.nextTimer(deadline); timer; timer = this.nextTimer(deadline)) {
      this.step({ kind: 'timer-fired', timer });
      onTurn();
    }
    this.now = deadline;
  }

  /** Kills the process and starts it again on what was stored. */
  restart(): void {
    const stored = storedFrom(this.world);
    this.restartOn(stored, { ...stored.cluster, epoch: stored.cluster.epoch + 1n });
  }

  /** Kills the process and starts it on something else, as that cluster. */
  restartOn(stored: StoredWorld, cluster: ClusterState): void {
    this.timers.clear();
    this.world = this.open({ ...stored, cluster });
  }

  run(id: number): RunState {
    const run = this.world.runs.get(BigInt(id) as RunId);
    if (!run) throw new Error(`no run ${id}`);
    return run;
  }

  private open(stored: StoredWorld): World {
    const { world, effects } = openWorld(stored, millis(this.now), this.timings);
    this.take(effects);
    return world;
  }

  private take(effects: readonly Effect[]): void {
    this.effects = [...effects];
    for (const effect of effects) {
      if (effect.kind === 'arm') this.timers.set(subject(effect.timer), effect);
    }
  }
}

/** What a store would give back: everything but the volatile fields (I11). */
export function storedFrom(world: World): StoredWorld {
  return {
    cluster: world.cluster,
    nodes: [...world.nodes.values()],
    runs: [...world.runs.values()].map(withoutVolatile),
    requests: [...world.requests.values()],
    footprints: [...world.footprints.values()],
    tokens: [...world.tokens.values()],
    certificates: [...world.certificates.values()],
    keys: [...world.keys.values()],
  };
}

function subject(timer: Timer): string {
  return JSON.stringify(timer, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}
