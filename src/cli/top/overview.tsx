import { windowStart } from './layout.js';
import { Panel } from './panel.js';
import type { Picture } from './picture.js';
import { poolHead } from './pool-rows.js';
import { runHead } from './run-rows.js';
import type { Look } from './top-keys.js';

interface OverviewProps {
  readonly picture: Picture;
  readonly look: Look;
  readonly width: number;
}

/** The three panels: pool, runs, events. */
export function Overview({ picture, look: { panel, scroll }, width }: OverviewProps) {
  const { layout, pool, runs, events, selected, room } = picture;
  return (
    <>
      <Panel
        head={poolHead(width)}
        rows={pool}
        height={layout.pool}
        width={width}
        start={Math.min(scroll.pool, room.latest.pool)}
        hasFocus={panel === 'pool'}
      />
      <Panel
        head={runHead(width)}
        rows={runs}
        height={layout.runs}
        width={width}
        start={windowStart(0, selected, runs.length, layout.runs - 1)}
        selected={runs.length > 0 ? selected : undefined}
        hasFocus={panel === 'runs'}
      />
      <Panel
        head="EVENTS"
        rows={events}
        height={layout.events}
        width={width}
        // Scrolled upwards, away from the newest.
        start={room.latest.events - Math.min(scroll.events, room.latest.events)}
        hasFocus={panel === 'events'}
      />
    </>
  );
}
