import { Box, useInput } from 'ink';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { connectionText, countLine, titleLine } from './head-lines.js';
import { LineText } from './line-text.js';
import { Overview } from './overview.js';
import { Panel } from './panel.js';
import { pictureOf } from './picture.js';
import { poolRows } from './pool-rows.js';
import { afterInput, firstLook } from './top-keys.js';
import type { TopStore } from './top-store.js';
import { useNow } from './use-now.js';
import { useTerminalSize } from './use-terminal-size.js';

export interface TopAppProps {
  readonly store: Pick<TopStore, 'subscribe' | 'snapshot'>;
  readonly address: string;
  /** Somebody looks at a run: all that has happened to it is wanted. */
  readonly onOpen: (runId: bigint) => void;
  readonly onQuit: (how: 'quit' | 'interrupt') => void;
}

const KEYS = 'q quit  j/k or arrows select  Enter details  Tab next panel  ? help';

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
        <Overview picture={picture} look={look} width={columns} />
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
