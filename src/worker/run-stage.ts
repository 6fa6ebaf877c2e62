import type { StageUsage } from '../../gen/stageplane/v1/run.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { optimiseEarly } from '../process/optimise-early.js';
import type { CheckedPrepare } from './check-prepare.js';
import type { EngineList } from './engine/engines.js';
import { SLICE_FOLDER } from './engine/llama/slice-settings.js';
import type { EngineMessage } from './engine-messages.js';
import { openStageEdges } from './open-stage-edges.js';
import { prepareStage } from './prepare-stage.js';
import type { WorkerFault } from './stage-fault.js';
import type { StageLoop } from './stage-loop.js';

/** What a stage asks of the thread that it runs in. */
export interface StageThread {
  say(message: EngineMessage): void;
  /** Whether a load shall end. */
  isAborted(): boolean;
  /** The engine begins a step, or has ended it. */
  busy(isBusy: boolean): void;
  /** What the stage holds has changed, or may have. */
  holds(usage: StageUsage): void;
}

/** Prepares a stage and lets it run: its edges listen first, then it loads, then it waits for both neighbours. */
export async function runStage(prepare: PrepareStage, engines: EngineList, thread: StageThread): Promise<void> {
  let loop: StageLoop | undefined;
  let onConnected = () => {};
  const connected = new Promise<void>((resolve) => {
    onConnected = resolve;
  });

  async function openEdges({ edges }: CheckedPrepare): Promise<WorkerFault | undefined> {
    if (edges === undefined) return undefined;
    const opened = await openStageEdges(edges, {
      connected: onConnected,
      fault: (fault) => thread.say({ kind: 'faulted', fault }),
      note: (sentence) => thread.say({ kind: 'note', sentence }),
      busy: (isBusy) => thread.busy(isBusy),
      holds: (usage) => thread.holds(usage),
    });
    if (opened.kind === 'refused') return opened.fault;
    loop = opened.loop;
    return undefined;
  }

  const outcome = await prepareStage(prepare, {
    engines,
    headers: process.env[SLICE_FOLDER],
    onProgress: (report) => thread.say({ kind: 'progress', ...report }),
    signal: {
      get aborted() {
        return thread.isAborted();
      },
    },
    beforeLoad: openEdges,
  });
  if (outcome.kind === 'faulted') {
    thread.say(outcome);
    return;
  }
  const { footprint, engine } = outcome;
  if (loop !== undefined) {
    thread.say({ kind: 'waiting-edges', footprint });
    await connected;
    optimiseEarly();
    loop.start(engine);
  }
  thread.say({ kind: 'ready', footprint });
}
