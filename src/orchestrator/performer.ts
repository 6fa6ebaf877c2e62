import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import type { Draft } from '../core/machine/draft.js';
import type { Effect } from '../core/machine/effects.js';
import type { ClusterEvent } from '../core/machine/events.js';
import type { RpcError } from '../grpc/rpc-error.js';
import { StoreError } from '../store/store-error.js';
import type { Clock } from './clock.js';
import type { FailPoint } from './fail-point.js';
import type { Loop, Performer } from './loop.js';
import type { Sessions } from './sessions.js';
import type { TokenEndpoints } from './text/token-endpoints.js';
import type { Timers } from './timers.js';
import type { WatchHub } from './watch-hub.js';

interface Outside {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly timers: Timers;
  readonly hub: WatchHub;
  readonly endpoints: TokenEndpoints;
  readonly loop: () => Loop;
  /** The orchestrator cannot go on. */
  readonly fail: (error: Error) => void;
  /** Ends the process somewhere on the way, in crash tests. */
  readonly failPoint: FailPoint | undefined;
  readonly logger: Logger;
}

/** Carries out what the machine decided. */
export function createPerformer(outside: Outside): Performer & { performAll(effects: readonly Effect[]): void } {
  const { failPoint } = outside;
  const carryOut = (effect: Effect) => performOne(outside, effect);
  const perform = failPoint ? (effect: Effect) => between(failPoint, effect, carryOut) : carryOut;
  const performAll = (effects: readonly Effect[]) => {
    for (const effect of effects) perform(effect);
  };
  return {
    performAll,
    perform(turn: Draft) {
      performAll(turn.effects);
      const nodes = new Set([...turn.touchedNodes(), ...turn.dirtyNodes]);
      // What became ready in the same turn has no progress any more.
      const progress = [...turn.progress.values()].filter(
        ({ runId, stageIndex }) => turn.run(runId)?.stages[stageIndex]?.phase === 'LOADING',
      );
      outside.hub.publish(turn.events, progress, [...nodes], turn.cluster.revision);
    },
    abandon(events: readonly ClusterEvent[], error: RpcError) {
      for (const event of events) abandonOne(outside, event, error);
      // Whether the commit took hold is unknown: only a new start knows what is true (I11).
      if (error.cause instanceof StoreError && hopeless.has(error.cause.kind)) outside.fail(error.cause);
    },
  };
}

const hopeless: ReadonlySet<StoreError['kind']> = new Set(['io', 'corrupt', 'locked']);

function between(failPoint: FailPoint, effect: Effect, carryOut: (effect: Effect) => void): void {
  if (effect.kind === 'send' || effect.kind === 'answer') failPoint.around(effect.kind, () => carryOut(effect));
  else carryOut(effect);
}

function performOne({ sessions, timers, endpoints, loop, logger }: Outside, effect: Effect): void {
  switch (effect.kind) {
    case 'send':
      return sessions.send(effect.session, effect.message);
    case 'close-session':
      return sessions.close(effect.session, effect.why);
    case 'answer':
      return loop().calls.answer(effect.call, effect.answer);
    case 'arm':
      return timers.arm(effect.timer, effect.at);
    case 'open-token-endpoint': {
      const run = loop().world.runs.get(effect.runId);
      if (run?.generation === effect.generation) endpoints.open(run);
      return;
    }
    case 'close-token-endpoint':
      return endpoints.close(effect.runId, effect.generation, effect.reason);
    case 'begin-answer':
      return endpoints.beginAnswer(effect.runId, effect.generation);
    case 'await-quiet':
      return endpoints.awaitQuiet(effect.runId, effect.generation);
    case 'say':
      return logger[effect.level](effect.fields, effect.message);
  }
}

function abandonOne({ clock, sessions, loop }: Outside, event: ClusterEvent, error: RpcError): void {
  switch (event.kind) {
    case 'timer-fired':
    case 'session-ended':
    case 'token-endpoint-ready':
    case 'token-endpoint-lost':
    case 'token-endpoint-quiet':
    case 'answer-ended':
    case 'answer-failed':
      clock.after(limits.turnRetryMillis, () => loop().post(event));
      return;
    case 'hello-received':
    case 'delivery-acked':
    case 'delivery-refused':
    case 'stage-reported':
    case 'heartbeat-received':
      return sessions.fail(event.session, error);
    default:
      // The caller of a request has its error already, and the loop itself keeps in mind what comes first.
      return;
  }
}
