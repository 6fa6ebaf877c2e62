import { RunEvent } from '../../../gen/stageplane/v1/run.js';
import { causeLine } from '../../cli/format/cause.js';
import { escapeControls } from '../../cli/format/escape.js';
import { exceededPhrase } from '../../cli/format/exceeded-phrase.js';
import { label } from '../../cli/format/labels.js';
import type { State } from '../parts/tone.js';
import { stateOfEvent } from '../runs/states.js';

/** One committed event as a line; every text is safe to show. */
export interface EventView {
  readonly revision: bigint;
  readonly runId: string;
  readonly generation: number;
  /** `10:42:07` by the browser's own clock setting. */
  readonly time: string;
  /** `run` or `stage 1`. */
  readonly subject: string;
  readonly state: State;
  /** What there is to say beyond the state; may be empty. */
  readonly text: string;
}

export function eventView(event: RunEvent): EventView {
  const { revision, runId, generation, at, detail } = event;
  const stage = detail && 'stageIndex' in detail.value ? detail.value.stageIndex : undefined;
  return {
    revision,
    runId: String(runId),
    generation,
    time: at ? at.toLocaleTimeString() : '',
    subject: stage === undefined ? 'run' : `stage ${stage}`,
    state: stateOfEvent(event),
    text: textOf(event),
  };
}

function textOf({ detail, generation }: RunEvent): string {
  switch (detail?.$case) {
    case 'runPhase': {
      const { cause, stages } = detail.value;
      const names = [...new Set(stages.map(({ nodeName, nodeId }) => nodeName || `node ${nodeId}`))];
      const again = names.length > 0 ? `generation ${generation} on ${escapeControls(names.join(', '))}` : '';
      return [again, cause ? causeLine(cause) : ''].filter(Boolean).join('; ');
    }
    case 'fault': {
      const { fault } = detail.value;
      return fault ? escapeControls(`${label.faultReason(fault.reason)}: ${fault.message}`) : 'no reason given';
    }
    case 'reservationExceeded':
      return exceededPhrase(detail.value);
    case 'restartRefused': {
      const { message, attemptsLeft } = detail.value;
      return `${escapeControls(message)}; ${attemptsLeft > 0 ? `${attemptsLeft} more attempts` : 'no attempt is left'}`;
    }
    default:
      return '';
  }
}

/** A page that is open for days must not hold every event of that time. */
export const EVENTS_KEPT = 1000;

/**
 * Newest first, each once: after a broken stream the events since the last bookmark come again, whole commit by whole commit.
 */
export function withEvent(events: readonly EventView[], json: unknown): readonly EventView[] {
  const event = eventView(RunEvent.fromJSON(json));
  if (events[0] && event.revision <= events[0].revision) return events;
  return [event, ...events].slice(0, EVENTS_KEPT);
}
