import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import type { RunSummary } from '../../../gen/stageplane/v1/run.js';
import { escapeControls } from '../../cli/format/escape.js';
import type { State } from '../parts/tone.js';
import { isOver, runStateOf } from './states.js';

/** A run as a line of the list; every text is safe to show. */
export interface RunRow {
  readonly id: string;
  readonly model: string;
  readonly mode: string;
  readonly state: State;
  /** `2 of 3 ready` */
  readonly stages: string;
  /** `generation 2`; empty in the first. */
  readonly generation: string;
  readonly created: string;
  readonly cause: string;
}

export function runRow(run: RunSummary): RunRow {
  const count = run.stageCount === 1 ? '1 stage' : `${run.stageCount} stages`;
  return {
    id: String(run.runId),
    model: escapeControls(run.modelId) || 'unnamed model',
    mode: run.mode === RunMode.RUN_MODE_ONE_SHOT ? 'one shot' : 'serving',
    state: runStateOf(run),
    stages: isOver(run) ? count : `${run.readyStages} of ${count} ready`,
    generation: run.generation > 1 ? `generation ${run.generation}` : '',
    created: run.createdAt?.toLocaleString() ?? '',
    cause: escapeControls(run.cause),
  };
}
