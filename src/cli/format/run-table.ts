import { RunOutcome, type RunSummary } from '../../../gen/stageplane/v1/run.js';
import { formatAge } from './duration.js';
import { escapeControls } from './escape.js';
import { label } from './labels.js';
import { renderTable } from './table.js';

/** Runs as a list. */
export function runTable(runs: readonly RunSummary[], now: Date): string {
  if (runs.length === 0) return 'no runs; start one with `stageplane run FILE`';
  const columns = [
    { head: 'RUN', align: 'right' },
    { head: 'MODEL' },
    { head: 'PHASE' },
    { head: 'OUTCOME' },
    { head: 'READY', align: 'right' },
    { head: 'AGE', align: 'right' },
    { head: 'CAUSE' },
  ] as const;
  const rows = runs.map((run) => [
    String(run.runId),
    escapeControls(run.modelId),
    label.runPhase(run.phase),
    run.outcome === RunOutcome.RUN_OUTCOME_UNSPECIFIED ? '-' : label.runOutcome(run.outcome),
    `${run.readyStages}/${run.stageCount}`,
    run.createdAt ? formatAge(run.createdAt, now) : '-',
    escapeControls(run.cause) || '-',
  ]);
  return renderTable(columns, rows);
}
