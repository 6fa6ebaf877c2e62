import type { EventView } from './event-view.js';

export interface EventFilter {
  /** Words that must all be there, in letters of any case; `run 7` is that run and no other. */
  readonly text: string;
  readonly kind: 'all' | 'runs' | 'faults';
}

export function isShown(event: EventView, { text, kind }: EventFilter): boolean {
  if (kind === 'runs' && event.subject !== 'run') return false;
  if (kind === 'faults' && event.state.tone !== 'bad') return false;
  const asked = text.toLowerCase();
  const run = /\brun\s+(\d+)\b/.exec(asked);
  if (run && run[1] !== event.runId) return false;
  const words = asked
    .replace(run?.[0] ?? '', '')
    .split(/\s+/)
    .filter(Boolean);
  const haystack = `run ${event.runId} ${event.subject} ${event.state.word} ${event.text}`.toLowerCase();
  return words.every((word) => haystack.includes(word));
}
