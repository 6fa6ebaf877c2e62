import type { DeviceUsage, HeldStageUsage } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { type Millis, millis, runId } from '../../ids.js';
import { limits } from '../../limits.js';
import { giveUpStage } from './stage-lifecycle.js';
import type { SentHeartbeat } from './state.js';
import type { Turn } from './turn.js';

/** Counts the lease from a message that was answered: from its sending, which is never later than its being heard. */
export function renewLease(turn: Turn, ttl: number, since: Millis): void {
  turn.change({ lease: { ttl, since } });
  if (ttl > 0) turn.perform({ kind: 'arm', timer: 'lease', at: millis(since + ttl) });
}

/**
 * The lease is over: the orchestrator may give the stages to others, so their workers end here (I3). Asked at the
 * beginning of every turn, so that nothing that waited through a suspended night is acted on: it may be of any age, and
 * only a new session's reconciliation knows what still counts.
 */
export function checkLease(turn: Turn): void {
  const { lease, contact, stages } = turn.state;
  if (!lease || lease.ttl === 0 || turn.at < lease.since + lease.ttl) return;
  if (contact.kind === 'joined') {
    turn.change({ contact: { kind: 'apart' } });
    turn.perform({ kind: 'close-session', session: contact.session, why: 'the lease is over' });
  }
  const live = [...stages.values()].filter(({ phase }) => phase !== 'STOPPING' && phase !== 'STOPPED');
  if (live.length === 0) return;
  turn.say('warn', 'lease is over, stopping all stages', { leaseMillis: lease.ttl, stages: live.length });
  const silence = `the orchestrator had not answered for ${lease.ttl / 1000} s`;
  const cause = `node "${turn.rules.name}" stopped the stage because ${silence}: look at the network between them`;
  for (const stage of live) giveUpStage(turn, stage, cause);
}

export function heartbeatDue(turn: Turn, usage: readonly DeviceUsage[], stages: readonly HeldStageUsage[]): void {
  const { contact } = turn.state;
  if (contact.kind !== 'joined') return;
  if (contact.unanswered.length >= limits.heartbeatsUnanswered) {
    const why = `${contact.unanswered.length} heartbeats in a row were not answered`;
    turn.perform({ kind: 'close-session', session: contact.session, why });
    return;
  }
  const sequence = contact.nextSequence;
  const unanswered: SentHeartbeat[] = [...contact.unanswered, { sequence, at: turn.at }];
  turn.change({ contact: { ...contact, unanswered, nextSequence: sequence + 1n } });
  turn.send({
    $case: 'heartbeat',
    value: { sequence, devices: [...usage], stages: stages.filter((stage) => isReady(turn, stage)) },
  });
  turn.perform({ kind: 'arm', timer: 'heartbeat', at: millis(turn.at + contact.heartbeatPeriod) });
}

function isReady(turn: Turn, { runId: run, stageIndex, generation }: HeldStageUsage): boolean {
  const phase = turn.stage({ runId: runId(run), stageIndex, generation })?.phase;
  return phase === 'READY' || phase === 'EXECUTING';
}

export function heartbeatAcknowledged(turn: Turn, sequence: bigint): void {
  const { contact, lease } = turn.state;
  const sent = contact.kind === 'joined' && contact.unanswered.find((heartbeat) => heartbeat.sequence === sequence);
  if (contact.kind !== 'joined' || !sent || !lease) {
    turn.ignore();
    return;
  }
  const unanswered = contact.unanswered.filter((heartbeat) => heartbeat.sequence > sequence);
  turn.change({ contact: { ...contact, unanswered } });
  renewLease(turn, lease.ttl, sent.at);
}
