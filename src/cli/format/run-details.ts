import {
  RestartMode,
  type Run,
  type StageStatus,
  type StageUsage,
  type TextLoad,
} from '../../../gen/stageplane/v1/run.js';
import { formatBytes } from '../../core/format-bytes.js';
import { causeLine } from './cause.js';
import { formatAge } from './duration.js';
import { escapeControls } from './escape.js';
import { label } from './labels.js';
import { layerBar } from './layer-bar.js';
import { runState } from './run-state.js';
import { renderFields, renderTable } from './table.js';
import { textSpeed } from './text-speed.js';

const BAR_CELLS = 24;

/** One run with its stages and, when it faulted, its cause and the end of the worker's log. */
export function runDetails(run: Run, now: Date): string {
  const layers = run.plan?.model?.numLayers ?? 0;
  const columns = [
    { head: 'STAGE', align: 'right' },
    { head: 'NODE' },
    { head: 'LAYERS' },
    { head: `0 TO ${layers}` },
    { head: 'PHASE' },
    { head: 'READ', align: 'right' },
    { head: 'HOLDS' },
    { head: 'FAULT' },
  ] as const;
  const rows = run.stages.map((stage) => stageRow(stage, layers));
  const logTail = (run.cause?.logTail ?? []).map((line) => `  ${escapeControls(line)}`);
  const log = logTail.length > 0 ? [['last lines of the log:', ...logTail].join('\n')] : [];
  const gone = run.earlierStages.map(earlierLine);
  return [renderFields(runFields(run, now)), renderTable(columns, rows), ...gone, ...log].join('\n\n');
}

function runFields(run: Run, now: Date): (readonly [string, string])[] {
  return [
    ['run', String(run.runId)],
    ['model', escapeControls(run.plan?.model?.modelId ?? '')],
    ['mode', label.runMode(run.mode)],
    ['phase', runState(run)],
    ...(run.cause ? [['cause', causeLine(run.cause)] as const] : []),
    ...(run.fidelity ? [['fidelity', escapeControls(run.fidelity)] as const] : []),
    ...(run.textLoad ? [['text', textLoad(run.textLoad)] as const] : []),
    ['generation', String(run.generation)],
    ...restartFields(run),
    ['request id', escapeControls(run.requestId)],
    ['plan id', escapeControls(run.planId)],
    ['created', run.createdAt ? `${run.createdAt.toISOString()} (${formatAge(run.createdAt, now)} ago)` : '-'],
    ['revision', String(run.revision)],
  ];
}

function restartFields({ restart, restarts, lastCause, restartObstacle }: Run): (readonly [string, string])[] {
  if (restart?.mode !== RestartMode.RESTART_MODE_ON_FAULT) return [];
  return [
    ['restarts', `${restarts} of ${restart.maxAttempts}`],
    ...(lastCause ? [['cause before', causeLine(lastCause)] as const] : []),
    ...(restartObstacle ? [['no new plan', escapeControls(restartObstacle)] as const] : []),
  ];
}

function earlierLine({ stageIndex, generation, nodeName, nodeId }: StageStatus): string {
  const where = `stage ${stageIndex} of generation ${generation} on ${escapeControls(nodeName || 'node')} (${nodeId})`;
  return `${where} is LOST and may still be alive: it keeps its memory until the node is back, fenced or deleted`;
}

function textLoad({ waitingPrompts, runningAnswers, heldSessions, tokensPerSecond }: TextLoad): string {
  const counts = `${runningAnswers} answers under way, ${waitingPrompts} prompts waiting, ${heldSessions} sessions held`;
  return `${counts}, ${textSpeed(tokensPerSecond)}`;
}

function held({ heldSessions, heldTokens }: StageUsage): string {
  return `${heldTokens} tokens of ${heldSessions} session${heldSessions === 1 ? '' : 's'}`;
}

function stageRow(stage: StageStatus, layers: number): string[] {
  const { layerStart, layerEndExclusive, fault, footprint, progress, usage } = stage;
  const read = footprint?.bytesRead ?? progress?.bytesDone;
  return [
    String(stage.stageIndex),
    `${escapeControls(stage.nodeName || 'node')} (${stage.nodeId})`,
    `[${layerStart}, ${layerEndExclusive})`,
    layerBar(layerStart, layerEndExclusive, layers, BAR_CELLS),
    label.stagePhase(stage.phase),
    read === undefined ? '-' : formatBytes(read),
    usage ? held(usage) : '-',
    fault ? escapeControls(`${label.faultReason(fault.reason)}: ${fault.message}`) : '-',
  ];
}
