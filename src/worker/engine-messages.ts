import type { StageFootprint } from '../../gen/stageplane/v1/run.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import type { WorkerFault } from './stage-fault.js';

/** What the engine thread is started with. The memory is shared: a thread inside a native call gets no messages. */
export interface EngineThreadData {
  readonly prepare: PrepareStage;
  /** One 32-bit word: not 0 once the load shall end. */
  readonly abort: SharedArrayBuffer;
  /** One 64-bit word: when the engine began its step, by `process.hrtime.bigint`; 0 while it waits. */
  readonly busySince: SharedArrayBuffer;
  /** Two 64-bit words: generation sessions that the stage holds, and the tokens of all of them. */
  readonly held: SharedArrayBuffer;
}

/** What the engine thread says. */
export type EngineMessage =
  | { readonly kind: 'progress'; readonly bytesDone: number; readonly bytesTotal: number }
  /** Loaded; its edges are still missing a neighbour, or have just been joined. Only when it has edges. */
  | { readonly kind: 'waiting-edges'; readonly footprint: StageFootprint }
  | { readonly kind: 'ready'; readonly footprint: StageFootprint }
  /** May come at any time. The thread does nothing more. */
  | { readonly kind: 'faulted'; readonly fault: WorkerFault }
  /** A sentence for the log. */
  | { readonly kind: 'note'; readonly sentence: string };
