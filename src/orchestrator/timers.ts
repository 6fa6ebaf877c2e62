import type { Millis } from '../core/ids.js';
import type { Timer } from '../core/machine/events.js';
import type { Clock } from './clock.js';

/** setTimeout overflows above this and fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** The machine's timers: one per subject, the newest wins. Lost with the process and set anew from the store. */
export class Timers {
  private readonly handles = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly clock: Clock,
    private readonly fire: (timer: Timer) => void,
  ) {}

  arm(timer: Timer, at: Millis): void {
    const subject = subjectOf(timer);
    clearTimeout(this.handles.get(subject));
    const delay = Math.min(Math.max(at - this.clock.now(), 0), LONGEST_TIMEOUT);
    const handle = setTimeout(() => {
      this.handles.delete(subject);
      this.fire(timer);
    }, Math.ceil(delay));
    this.handles.set(subject, handle);
  }

  stop(): void {
    for (const handle of this.handles.values()) clearTimeout(handle);
    this.handles.clear();
  }
}

function subjectOf(timer: Timer): string {
  switch (timer.kind) {
    case 'stage':
      return `stage ${timer.runId}/${timer.stageIndex}/${timer.generation}`;
    case 'grace':
    case 'fence':
    case 'drain':
      return `${timer.kind} ${timer.nodeId}`;
    case 'cause':
    case 'edges':
    case 'restart':
      return `${timer.kind} ${timer.runId}`;
  }
}
