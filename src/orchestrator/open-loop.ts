import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import type { Rules } from '../core/machine/rules.js';
import type { ClusterState, StoredWorld } from '../core/machine/state.js';
import { stepOver } from '../core/machine/step-over.js';
import type { Timings } from '../core/machine/timings.js';
import { openWorld } from '../core/machine/world.js';
import type { Store } from '../store/store.js';
import type { Clock } from './clock.js';
import type { FailPoint } from './fail-point.js';
import { Loop, type LoopMeter, type Performer, type Witness } from './loop.js';
import { createPerformer } from './performer.js';
import { Sessions } from './sessions.js';
import { sha256 } from './sha256.js';
import type { TokenEndpoints } from './text/token-endpoints.js';
import { Timers } from './timers.js';
import { WatchHub } from './watch-hub.js';

export interface LoopParts {
  readonly store: Store;
  /** What `beginEpoch` gave. */
  readonly stored: StoredWorld;
  readonly timings: Timings;
  readonly clock: Clock;
  readonly endpoints: TokenEndpoints;
  /** The orchestrator cannot go on. */
  readonly fail: (error: Error) => void;
  readonly failPoint?: FailPoint | undefined;
  readonly logger: Logger;
  /** Writes down who asked for what; nobody does where nothing is asked from outside. */
  readonly witness?: Witness | undefined;
  /** Looks on: what it gives back is what the loop hands its turns to. */
  readonly observe?: ((performer: Performer) => Performer) | undefined;
  readonly meter?: LoopMeter | undefined;
}

export interface OpenLoop {
  readonly loop: Loop;
  readonly sessions: Sessions;
  readonly hub: WatchHub;
  stop(): void;
}

/**
 * Everything that was stored, under an epoch of its own: nothing is sent before that one is committed (I5).
 *
 * @param draw a whole number below the one given
 */
export function beginEpoch(
  store: Store,
  logger: Logger,
  draw: (below: number) => number = (below) => randomInt(below),
): StoredWorld {
  const stored = store.load();
  const cluster = store.isBackup ? clusterOfBackup(stored.cluster, logger, draw) : nextCluster(stored.cluster);
  store.commit({
    cluster,
    nodes: [],
    deletedNodes: [],
    runs: [],
    deletedRuns: [],
    requests: [],
    events: [],
    answers: [],
    footprints: [],
    tokens: new Map(),
    certificates: new Map(),
    keys: new Map(),
  });
  return { ...stored, cluster };
}

function nextCluster(stored: ClusterState): ClusterState {
  return { ...stored, epoch: stored.epoch + 1n };
}

/** After a backup was put back: beside a new epoch (I5) ids that nobody has seen (I3). */
function clusterOfBackup(stored: ClusterState, logger: Logger, draw: (below: number) => number): ClusterState {
  // Drawn, for the same backup may have been put back before; a life begun then is lost too.
  const skipped = limits.lostEpochs + BigInt(draw(limits.epochDraw));
  const cluster = stepOver(stored, stored.epoch + skipped);
  const { epoch, nextRunId, nextNodeId } = cluster;
  logger.warn({ epoch, nextRunId, nextNodeId }, 'started from a backup: epoch and ids step over what came after it');
  return cluster;
}

/** The machine on what was stored, with everything that carries out what it decides. */
export function openLoop(parts: LoopParts): OpenLoop {
  const {
    store,
    stored,
    timings,
    clock,
    endpoints,
    fail,
    failPoint,
    logger,
    witness,
    meter,
    observe = (performer) => performer,
  } = parts;
  const { world, effects } = openWorld(stored, clock.now(), timings);
  const rules: Rules = { timings, sha256 };
  const sessions = new Sessions();
  const hub = new WatchHub();
  const timers = new Timers(clock, (timer) => loop.post({ kind: 'timer-fired', timer }));
  const performer = createPerformer({
    clock,
    sessions,
    timers,
    hub,
    endpoints,
    loop: () => loop,
    fail,
    failPoint,
    logger,
  });
  const loop = new Loop(world, store, rules, clock, observe(performer), logger, witness, meter);
  performer.performAll(effects);
  loop.postFirst({ kind: 'orchestrator-started' });
  const stop = () => {
    loop.stop();
    timers.stop();
  };
  return { loop, sessions, hub, stop };
}
