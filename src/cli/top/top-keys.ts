import type { Key } from 'ink';

export const panels = ['runs', 'pool', 'events'] as const;
export type PanelName = (typeof panels)[number];

/** What the person in front of it looks at. */
export interface Look {
  readonly panel: PanelName;
  /** The run that is selected, by id, so that a new one does not push the selection away; undefined is the newest. */
  readonly runId: bigint | undefined;
  /** The first line that is shown of the other panels, and of the details. */
  readonly scroll: Readonly<Record<'pool' | 'events' | 'details', number>>;
  readonly view: 'overview' | 'details' | 'help';
}

export const firstLook: Look = {
  panel: 'runs',
  runId: undefined,
  scroll: { pool: 0, events: 0, details: 0 },
  view: 'overview',
};

/** What is there to move about in. */
export interface Room {
  /** Newest first. */
  readonly runIds: readonly bigint[];
  /** The last line to which each may be scrolled. */
  readonly latest: Readonly<Record<'pool' | 'events' | 'details', number>>;
}

/** The look after what has arrived at once: keys that are pressed fast, or over a slow line, come together. */
export function afterInput(look: Look, input: string, key: Key, room: Room): Look {
  if (input.length < 2) return afterKey(look, input, key, room);
  return [...input].reduce((before, one) => afterKey(before, one, { ...key, return: one === '\r' }, room), look);
}

/** The look after a key. */
function afterKey(look: Look, input: string, key: Key, room: Room): Look {
  if (look.view === 'help') return { ...look, view: 'overview' };
  if (input === '?') return { ...look, view: 'help' };
  if (key.escape) return { ...look, view: 'overview' };
  if (key.return) return afterEnter(look, room);
  if (key.tab && look.view === 'overview') return { ...look, panel: nextPanel(look.panel, key.shift) };
  const steps = stepsOf(input, key);
  if (steps === 0) return look;
  if (look.view === 'overview' && look.panel === 'runs')
    return { ...look, runId: movedRun(look.runId, steps, room.runIds) };
  const what = look.view === 'details' ? 'details' : look.panel === 'pool' ? 'pool' : 'events';
  // Events begin with the newest, at the bottom.
  const down = what === 'events' ? -steps : steps;
  const at = Math.max(0, Math.min(room.latest[what], look.scroll[what] + down));
  return { ...look, scroll: { ...look.scroll, [what]: at } };
}

function afterEnter(look: Look, { runIds }: Room): Look {
  if (look.view === 'details') return { ...look, view: 'overview' };
  const runId = look.runId ?? runIds[0];
  if (runId === undefined || look.panel !== 'runs') return look;
  return { ...look, view: 'details', runId, scroll: { ...look.scroll, details: 0 } };
}

function nextPanel(panel: PanelName, isBack: boolean): PanelName {
  const at = panels.indexOf(panel) + (isBack ? panels.length - 1 : 1);
  return panels[at % panels.length] ?? 'runs';
}

function movedRun(runId: bigint | undefined, steps: number, runIds: readonly bigint[]): bigint | undefined {
  const at = Math.max(0, runId === undefined ? 0 : runIds.indexOf(runId));
  return runIds[Math.max(0, Math.min(runIds.length - 1, at + steps))];
}

function stepsOf(input: string, key: Key): number {
  if (key.downArrow || input === 'j') return 1;
  if (key.upArrow || input === 'k') return -1;
  if (key.pageDown) return 10;
  return key.pageUp ? -10 : 0;
}
