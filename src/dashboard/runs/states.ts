import { type RunEvent, RunOutcome, RunPhase, StagePhase } from '../../../gen/stageplane/v1/run.js';
import type { State } from '../parts/tone.js';

export function isOver({ phase }: { readonly phase: RunPhase }): boolean {
  return phase === RunPhase.RUN_PHASE_DONE;
}

/** Where a run stands, in words. */
export function runStateOf({ phase, outcome }: { readonly phase: RunPhase; readonly outcome: RunOutcome }): State {
  switch (phase) {
    case RunPhase.RUN_PHASE_PROVISIONING:
      return { tone: 'busy', word: 'provisioning' };
    case RunPhase.RUN_PHASE_WAITING_READY:
      return { tone: 'busy', word: 'loading' };
    case RunPhase.RUN_PHASE_RUNNING:
      return { tone: 'good', word: 'running' };
    case RunPhase.RUN_PHASE_TEARING_DOWN:
      return tearingDown(outcome);
    case RunPhase.RUN_PHASE_DONE:
      return outcomes[outcome] ?? { tone: 'over', word: 'done' };
    default:
      return { tone: 'away', word: 'unknown' };
  }
}

const outcomes: Readonly<Partial<Record<RunOutcome, State>>> = {
  [RunOutcome.RUN_OUTCOME_COMPLETED]: { tone: 'over', word: 'completed' },
  [RunOutcome.RUN_OUTCOME_FAULTED]: { tone: 'bad', word: 'faulted' },
  [RunOutcome.RUN_OUTCOME_STOPPED]: { tone: 'over', word: 'stopped' },
};

function tearingDown(outcome: RunOutcome): State {
  switch (outcome) {
    case RunOutcome.RUN_OUTCOME_FAULTED:
      return { tone: 'bad', word: 'faulted, tearing down' };
    case RunOutcome.RUN_OUTCOME_UNSPECIFIED:
      // Torn down without an outcome it is not over.
      return { tone: 'busy', word: 'tearing down, begins again' };
    default:
      return { tone: 'busy', word: 'tearing down' };
  }
}

const stageStates: Readonly<Partial<Record<StagePhase, State>>> = {
  [StagePhase.STAGE_PHASE_PENDING]: { tone: 'away', word: 'pending' },
  [StagePhase.STAGE_PHASE_SENT]: { tone: 'busy', word: 'sent' },
  [StagePhase.STAGE_PHASE_ACCEPTED]: { tone: 'busy', word: 'accepted' },
  [StagePhase.STAGE_PHASE_LOADING]: { tone: 'busy', word: 'loading' },
  [StagePhase.STAGE_PHASE_READY]: { tone: 'good', word: 'ready' },
  [StagePhase.STAGE_PHASE_FAULTED]: { tone: 'bad', word: 'faulted' },
  [StagePhase.STAGE_PHASE_STOPPING]: { tone: 'busy', word: 'stopping' },
  [StagePhase.STAGE_PHASE_LOST]: { tone: 'bad', word: 'lost' },
  [StagePhase.STAGE_PHASE_STOPPED]: { tone: 'over', word: 'stopped' },
};

export function stageStateOf(phase: StagePhase): State {
  return stageStates[phase] ?? { tone: 'away', word: 'unknown' };
}

/** What an event means for who looks at it. */
export function stateOfEvent({ detail }: RunEvent): State {
  switch (detail?.$case) {
    case 'runPhase':
      return runStateOf(detail.value);
    case 'stagePhase':
      return stageStateOf(detail.value.phase);
    case 'fault':
      return { tone: 'bad', word: 'fault' };
    case 'reservationExceeded':
      return { tone: 'busy', word: 'over reservation' };
    case 'restartRefused':
      return { tone: 'bad', word: 'cannot begin again' };
    default:
      return { tone: 'away', word: 'unknown event' };
  }
}
