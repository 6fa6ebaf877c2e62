import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import type { PrepareOutcome } from './prepare-stage.js';

/** What the engine thread is started with. */
export interface EngineThreadData {
  readonly prepare: PrepareStage;
  /** One 32-bit word: not 0 once the load shall end. Shared, because a thread inside a native call gets no messages. */
  readonly abort: SharedArrayBuffer;
}

/** What the engine thread says. */
export type EngineMessage =
  | { readonly kind: 'progress'; readonly bytesDone: number; readonly bytesTotal: number }
  | { readonly kind: 'prepared'; readonly outcome: PrepareOutcome };
