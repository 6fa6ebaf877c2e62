import type { Millis } from '../../ids.js';
import { provisionDelivered, stopDelivered } from './deliveries.js';
import type { AgentEffect } from './effects.js';
import type { AgentEvent } from './events.js';
import { checkLease, heartbeatAcknowledged, heartbeatDue } from './lease.js';
import { reportsAcknowledged } from './reports.js';
import type { AgentRules } from './rules.js';
import { streamEnded, streamOpened, welcomed } from './session.js';
import { giveUpStage } from './stage-lifecycle.js';
import type { AgentState } from './state.js';
import { Turn } from './turn.js';
import {
  workerBroken,
  workerExited,
  workerGreeted,
  workerHealthy,
  workerLoading,
  workerReady,
} from './worker-events.js';
import { edgesFault, failureFault } from './worker-faults.js';

export interface AgentStep {
  readonly state: AgentState;
  readonly effects: readonly AgentEffect[];
}

/**
 * Advances an agent by one event. Pure: the caller performs the effects in their order, and takes the new state only
 * when an identity among them has reached the disk.
 *
 * @param at now, on a clock that counts suspend
 */
export function step(state: AgentState, event: AgentEvent, at: Millis, rules: AgentRules): AgentStep {
  const turn = new Turn(state, at, rules);
  checkLease(turn);
  take(turn, event);
  finishLeaving(turn);
  return { state: turn.state, effects: turn.effects };
}

function take(turn: Turn, event: AgentEvent): void {
  switch (event.kind) {
    case 'stream-opened':
      return streamOpened(turn, event.session, event.offer);
    case 'welcomed':
      return welcomed(turn, event.session, event.welcome);
    case 'provision-delivered':
      return within(turn, event.session, () => provisionDelivered(turn, event.delivery, event.models));
    case 'stop-delivered':
      return within(turn, event.session, () => stopDelivered(turn, event.stop));
    case 'reports-acknowledged':
      return within(turn, event.session, () => reportsAcknowledged(turn, event.reportIds));
    case 'heartbeat-acknowledged':
      return within(turn, event.session, () => heartbeatAcknowledged(turn, event.sequence));
    case 'stream-ended':
      return streamEnded(turn, event.session);
    case 'heartbeat-due':
      return heartbeatDue(turn, event.usage, event.stages);
    case 'lease-due':
      // Every turn looks at the lease.
      return;
    case 'worker-greeted':
      return workerGreeted(turn, event.key, event.hello);
    case 'worker-loading':
      return workerLoading(turn, event.key, event.progress);
    case 'worker-ready':
      return workerReady(turn, event.key, event.footprint);
    case 'edges-refused':
      return workerBroken(turn, event.key, edgesFault(turn.rules.name, event.key, event.message));
    case 'worker-faulted':
      return workerBroken(turn, event.key, event.fault);
    case 'worker-failed':
      return workerBroken(turn, event.key, failureFault(event.key, event.failure, event.logTail));
    case 'worker-healthy':
      return workerHealthy(turn, event.key, event.busyMillis);
    case 'worker-exited':
      return workerExited(turn, event.key, event.exit, event.logTail);
    case 'leave-requested':
      return leaveRequested(turn, event.reason);
    default:
      return assertNever(event);
  }
}

/** What an old session says changes nothing (I6). */
function within(turn: Turn, session: number, handle: () => void): void {
  if (turn.joined === session) handle();
  else turn.ignore();
}

function leaveRequested(turn: Turn, reason: string): void {
  if (turn.state.leaving !== 'no') return;
  turn.change({ leaving: 'asked', leaveReason: reason });
  const cause = `node "${turn.rules.name}" is leaving: ${reason}`;
  for (const stage of turn.state.stages.values()) giveUpStage(turn, stage, cause);
}

/** Goodbye says that the stages are stopped, so it waits for the last worker (I18). */
function finishLeaving(turn: Turn): void {
  if (turn.state.leaving !== 'asked') return;
  if ([...turn.state.stages.values()].some(({ worker }) => worker === 'alive')) return;
  turn.change({ leaving: 'left' });
  turn.send({ $case: 'goodbye', value: { reason: turn.state.leaveReason } });
  turn.perform({ kind: 'leave' });
}

function assertNever(event: never): never {
  throw new Error(`unknown event ${JSON.stringify(event)}`);
}
