import { type Layout, layoutOf } from './layout.js';
import type { Row } from './pool-rows.js';
import { runDetails, runRows } from './run-rows.js';
import type { Look, Room } from './top-keys.js';
import type { TopState } from './top-state.js';
import type { TerminalSize } from './use-terminal-size.js';

const HELP = [
  'q, Ctrl-C         leave; nothing of what runs is touched',
  'j k, arrows       the next run, or the next line of a panel',
  'PageDown, PageUp  ten at once',
  'Tab, Shift-Tab    the next panel: runs, pool, events',
  'Enter             all of a run, and what has happened to it; again, or Esc, goes back',
  '',
  'memory bars       # reserved by stages, x used by others, · free',
  '',
  'any key goes back',
];

/** Everything that may be drawn, and how much room there is for it. */
export interface Picture {
  readonly layout: Layout;
  readonly pool: readonly Row[];
  readonly runs: readonly Row[];
  readonly events: readonly Row[];
  readonly selected: number;
  /** What fills the screen instead of the panels. */
  readonly page: { readonly head: string; readonly rows: readonly Row[] };
  readonly room: Room;
}

export function pictureOf(
  state: TopState,
  look: Look,
  now: Date,
  { size, pool }: { size: TerminalSize; pool: readonly Row[] },
): Picture {
  const layout = layoutOf(size.rows, pool.length);
  const runIds = [...state.runs.keys()];
  const runs = runRows(state.runs.values(), now, size.columns);
  // Newest at the bottom, where a log grows.
  const events = state.events.map(({ revision, line }) => plainRow(String(revision), line));
  const selected = Math.max(0, look.runId === undefined ? 0 : runIds.indexOf(look.runId));
  const page = pageOf(state, look, now);
  const latest = {
    pool: Math.max(0, pool.length - layout.pool + 1),
    events: Math.max(0, events.length - layout.events + 1),
    details: Math.max(0, page.rows.length - size.rows + 5),
  };
  return { layout, pool, runs, events, selected, page, room: { runIds, latest } };
}

function pageOf(state: TopState, { view, runId }: Look, now: Date): Picture['page'] {
  if (view === 'help') return { head: 'KEYS', rows: HELP.map((line, at) => plainRow(String(at), line)) };
  const run = runId === undefined ? undefined : state.runs.get(runId);
  const lines = run ? runDetails(run, now) : ['this run was deleted'];
  return { head: `RUN ${runId ?? ''}`, rows: lines.map((line, at) => plainRow(String(at), line)) };
}

function plainRow(key: string, text: string): Row {
  return { key, text, tone: 'plain' };
}
