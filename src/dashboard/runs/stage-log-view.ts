import type { GetStageLogResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { escapeControls } from '../../cli/format/escape.js';

/** The last lines of a stage's log, safe to show. */
export interface StageLogView {
  readonly lines: readonly string[];
  /** What there is to know about them; may be empty. */
  readonly note: string;
}

export function stageLogView({ lines, fromFault }: GetStageLogResponse): StageLogView {
  return { lines: lines.map(escapeControls), note: noteOf(lines.length === 0, fromFault) };
}

function noteOf(isEmpty: boolean, fromFault: boolean): string {
  if (fromFault) return isEmpty ? 'The agent is away.' : 'The agent is away; these lines travelled with the fault.';
  return isEmpty ? 'It has written nothing.' : '';
}
