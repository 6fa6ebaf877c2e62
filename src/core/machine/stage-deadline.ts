import { StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { type Millis, millis } from '../ids.js';
import { waitsForEdges } from './edge-deadline.js';
import type { StagePhase } from './stage-transitions.js';
import type { Contact, StageState } from './state.js';
import type { Timings } from './timings.js';

export interface StageDeadline {
  readonly at: Millis;
  /** Why the stage faults when the moment comes; absent for a stop, whose session is closed instead. */
  readonly reason?: StageFaultReason;
  /** What did not happen, with its period, for the fault's sentence. */
  readonly missed: string;
}

/** What a stage must do within its phase. */
const expectations: Partial<Record<StagePhase, { period: keyof Timings; reason?: StageFaultReason; missed: string }>> =
  {
    SENT: {
      period: 'acknowledge',
      reason: StageFaultReason.STAGE_FAULT_REASON_ACKNOWLEDGE_DEADLINE,
      missed: 'did not acknowledge its provision',
    },
    ACCEPTED: {
      period: 'load',
      reason: StageFaultReason.STAGE_FAULT_REASON_LOAD_DEADLINE,
      missed: 'made no loading progress',
    },
    LOADING: {
      period: 'load',
      reason: StageFaultReason.STAGE_FAULT_REASON_LOAD_DEADLINE,
      missed: 'made no loading progress',
    },
    STOPPING: { period: 'stop', missed: 'did not confirm its stop' },
  };

/**
 * When a stage's patience ends. Undefined while its node is not reconciled: deadlines run only in contact, and start
 * anew with each reconciliation. A stage that is loaded and waits for its edges waits with its run (edge-deadline.ts).
 */
export function stageDeadline(
  stage: StageState,
  contact: Contact | undefined,
  timings: Timings,
): StageDeadline | undefined {
  const expected = expectations[stage.phase];
  if (!expected || waitsForEdges(stage) || contact?.reconciledAt === undefined) return undefined;
  const since = Math.max(stage.volatile.since ?? 0, contact.reconciledAt);
  const at = millis(since + timings[expected.period]);
  return {
    at,
    missed: `${expected.missed} within ${timings[expected.period] / 1000} s`,
    ...(expected.reason && { reason: expected.reason }),
  };
}
