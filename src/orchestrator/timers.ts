import type { Millis } from '../core/ids.js';
import type { Timer } from '../core/machine/events.js';
import type { Clock } from './clock.js';

/** The machine's timers: one per subject, the newest wins. Lost with the process and set anew from the store. */
export class Timers {
  private readonly calls = new Map<string, () => void>();

  constructor(
    private readonly clock: Clock,
    private readonly fire: (timer: Timer) => void,
  ) {}

  arm(timer: Timer, at: Millis): void {
    const subject = subjectOf(timer);
    this.calls.get(subject)?.();
    const callOff = this.clock.after(at - this.clock.now(), () => {
      this.calls.delete(subject);
      this.fire(timer);
    });
    this.calls.set(subject, callOff);
  }

  stop(): void {
    for (const callOff of this.calls.values()) callOff();
    this.calls.clear();
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
