import { WatchRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { escapeControls } from './format/escape.js';
import { runFrame } from './format/run-frame.js';
import { eventLine, loadingLine } from './format/run-line.js';
import type { Output } from './output.js';
import type { RunView } from './run-view.js';

/** How a watched run is shown. */
export interface RunDisplay {
  /** The update, and the run as it is after it. */
  show(update: WatchRunResponse, view: RunView): void;
  /** The run was read anew. */
  redraw(view: RunView): void;
  note(reason: string, message: string): void;
  /** Leaves the last picture standing. */
  close(): void;
}

/** JSON lines with `--json`, a live picture on a terminal, plain lines everywhere else. */
export async function openRunDisplay(output: Output): Promise<RunDisplay> {
  if (output.json) return jsonDisplay(output);
  return output.live ? liveDisplay(output) : lineDisplay(output);
}

function jsonDisplay(output: Output): RunDisplay {
  return {
    show: (update) => output.jsonLine(WatchRunResponse.toJSON(update)),
    redraw: () => {},
    note: (reason, message) => output.note(reason, message),
    close: () => {},
  };
}

function lineDisplay(output: Output): RunDisplay {
  const quarters = new Map<number, number>();
  let fidelitySaid = false;
  return {
    show: ({ update }, view) => {
      if (!fidelitySaid && view.fidelity) {
        output.print(`          run ${view.runId}  fidelity ${escapeControls(view.fidelity)}`);
      }
      fidelitySaid = true;
      if (update?.$case === 'event') output.print(eventLine(view, update.value));
      if (update?.$case !== 'loading') return;
      const { stageIndex, progress } = update.value;
      const { bytesDone = 0n, bytesTotal = 0n, phase = 0 } = progress ?? {};
      // A large model reports thousands of times: a log needs each quarter once.
      const quarter = phase * 10 + Number(bytesTotal > 0n ? (bytesDone * 4n) / bytesTotal : 0n);
      if (quarters.get(stageIndex) === quarter) return;
      quarters.set(stageIndex, quarter);
      output.print(`          run ${view.runId}  ${loadingLine(view, stageIndex)}`);
    },
    redraw: () => {},
    note: (reason, message) => output.note(reason, message),
    close: () => {},
  };
}

async function liveDisplay(output: Output): Promise<RunDisplay> {
  const { default: logUpdate } = await import('log-update');
  return {
    show: (_update, view) => logUpdate(runFrame(view)),
    redraw: (view) => logUpdate(runFrame(view)),
    note: (reason, message) => {
      // What is on the screen stays above the note; the next frame begins below it.
      logUpdate.done();
      output.note(reason, message);
    },
    close: () => logUpdate.done(),
  };
}
