import type { StageReport } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { runId } from '../../ids.js';
import { limits } from '../../limits.js';
import type { StageKey } from '../state.js';
import type { Turn } from './turn.js';

export type ReportBody = NonNullable<StageReport['report']>;

/**
 * Says what became of a stage. `loading` is latest-wins and not acknowledged; everything else is kept until ReportAck and
 * said again after each Welcome (I19). The same report twice is the same entry.
 */
export function report(turn: Turn, key: StageKey, body: ReportBody): void {
  if (body.$case === 'loading') {
    turn.send({ $case: 'report', value: { ...key, reportId: 0n, report: body } });
    return;
  }
  const kept = findReport(turn, key, body.$case);
  if (kept) {
    turn.send({ $case: 'report', value: kept });
    return;
  }
  const reportId = turn.state.nextReportId;
  const value: StageReport = { ...key, reportId, report: body };
  turn.change({ nextReportId: reportId + 1n });
  // A stage that is not held bounds nothing: after a reconnect its absence from the inventory says the same.
  if (turn.stage(key) || turn.state.reports.size < limits.strayReports) {
    turn.change({ reports: new Map(turn.state.reports).set(reportId, value) });
  }
  turn.send({ $case: 'report', value });
}

/**
 * After a Welcome: everything that nobody has acknowledged yet, in the order it happened, and how far each stage has
 * loaded. An orchestrator that was restarted does not know it, and a stage that waits for its edges has no news.
 */
export function reportAgain(turn: Turn): void {
  for (const value of turn.state.reports.values()) turn.send({ $case: 'report', value });
  for (const { key, phase, progress } of turn.state.stages.values()) {
    if (phase === 'PREPARING' && progress) report(turn, key, { $case: 'loading', value: progress });
  }
}

/** The orchestrator has committed these. A stage that is STOPPED and has been heard is forgotten. */
export function reportsAcknowledged(turn: Turn, reportIds: readonly bigint[]): void {
  const reports = new Map(turn.state.reports);
  const heard: StageReport[] = [];
  for (const id of reportIds) {
    const value = reports.get(id);
    if (value) heard.push(value);
    reports.delete(id);
  }
  turn.change({ reports });
  for (const { report: body, ...value } of heard) {
    const key = { runId: runId(value.runId), stageIndex: value.stageIndex, generation: value.generation };
    if (body?.$case === 'stopped' && turn.stage(key)?.phase === 'STOPPED') turn.forgetStage(key);
  }
}

function findReport(turn: Turn, key: StageKey, kind: ReportBody['$case']): StageReport | undefined {
  for (const value of turn.state.reports.values()) {
    const same =
      value.runId === key.runId && value.stageIndex === key.stageIndex && value.generation === key.generation;
    if (same && value.report?.$case === kind) return value;
  }
  return undefined;
}
