import { Box, useInput } from 'ink';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { connectionText, countLine, titleLine } from './head-lines.js';
import { type Layout, layoutOf, windowStart } from './layout.js';
import { LineText } from './line-text.js';
import { Panel } from './panel.js';
import { poolHead, poolRows, type Row } from './pool-rows.js';
import { runDetails, runHead, runRows } from './run-rows.js';
import { afterInput, firstLook, type Look, type Room } from './top-keys.js';
import type { TopState } from './top-state.js';
import type { TopStore } from './top-store.js';
import { useNow } from './use-now.js';
import { type TerminalSize, useTerminalSize } from './use-terminal-size.js';

export interface TopAppProps {
  readonly store: Pick<TopStore, 'subscribe' | 'snapshot'>;
  readonly address: string;
  /** Somebody looks at a run: all that has happened to it is wanted. */
  readonly onOpen: (runId: bigint) => void;
  readonly onQuit: (how: 'quit' | 'interrupt') => void;
}

const KEYS = 'q quit  j/k or arrows select  Enter details  Tab next panel  ? help';
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

/** A cluster at a glance. */
export function TopApp({ store, address, onOpen, onQuit }: TopAppProps) {
  const state = useSyncExternalStore(store.subscribe, store.snapshot);
  const size = useTerminalSize();
  const now = useNow();
  const [look, setLook] = useState(firstLook);
  const pool = useMemo(() => poolRows(state.nodes.values(), size.columns), [state.nodes, size.columns]);
  const picture = pictureOf(state, look, now, { size, pool });
  useInput((input, key) => {
    if (key.ctrl && input === 'c') onQuit('interrupt');
    else if (input.includes('q')) onQuit('quit');
    else setLook((before) => afterInput(before, input, key, picture.room));
  });
  const opened = look.view === 'details' ? look.runId : undefined;
  // After a reconnect too: what was told of it may have a gap.
  const isConnected = state.connection.kind === 'connected';
  useEffect(() => {
    if (opened !== undefined && isConnected) onOpen(opened);
  }, [opened, isConnected, onOpen]);
  const { columns } = size;
  return (
    <Box flexDirection="column" width={columns}>
      <LineText text={titleLine(address, state, now)} width={columns} isHead tone={isConnected ? 'plain' : 'bad'} />
      <LineText text={countLine(state)} width={columns} />
      {look.view === 'overview' ? (
        <Overview {...picture} look={look} width={columns} />
      ) : (
        <Panel
          {...picture.page}
          height={size.rows - 4}
          width={columns}
          start={look.view === 'details' ? look.scroll.details : 0}
        />
      )}
      <LineText text={isConnected ? KEYS : connectionText(state.connection, now)} width={columns} />
    </Box>
  );
}

interface Picture {
  readonly layout: Layout;
  readonly pool: readonly Row[];
  readonly runs: readonly Row[];
  readonly events: readonly Row[];
  readonly selected: number;
  /** What fills the screen instead of the panels. */
  readonly page: { readonly head: string; readonly rows: readonly Row[] };
  readonly room: Room;
}

function pictureOf(
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

function Overview({
  layout,
  pool,
  runs,
  events,
  selected,
  room,
  look,
  width,
}: Picture & { look: Look; width: number }) {
  const { panel, scroll } = look;
  // Events are scrolled upwards, away from the newest.
  const eventStart = room.latest.events - Math.min(scroll.events, room.latest.events);
  const common = { width };
  return (
    <>
      <Panel
        {...common}
        head={poolHead(width)}
        rows={pool}
        height={layout.pool}
        start={Math.min(scroll.pool, room.latest.pool)}
        hasFocus={panel === 'pool'}
      />
      <Panel
        {...common}
        head={runHead(width)}
        rows={runs}
        height={layout.runs}
        start={windowStart(0, selected, runs.length, layout.runs - 1)}
        selected={runs.length > 0 ? selected : undefined}
        hasFocus={panel === 'runs'}
      />
      <Panel
        {...common}
        head="EVENTS"
        rows={events}
        height={layout.events}
        start={eventStart}
        hasFocus={panel === 'events'}
      />
    </>
  );
}

function plainRow(key: string, text: string): Row {
  return { key, text, tone: 'plain' };
}
