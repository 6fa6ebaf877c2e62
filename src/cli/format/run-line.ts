import {
  LoadProgress_Phase as LoadPhase,
  type RunEvent,
  type RunPhaseChanged,
  type StageStatus,
} from '../../../gen/stageplane/v1/run.js';
import { formatBytes } from '../../core/format-bytes.js';
import type { RunView } from '../run-view.js';
import { causeLine } from './cause.js';
import { escapeControls } from './escape.js';
import { exceededPhrase } from './exceeded-phrase.js';
import { label } from './labels.js';
import { runState } from './run-state.js';

/** One committed event on one line: `12:03:04  run 7  stage 0 on alpha  READY`. */
export function eventLine(view: RunView, event: RunEvent): string {
  const time = event.at ? event.at.toISOString().slice(11, 19) : '--:--:--';
  return `${time}  run ${event.runId}  ${whatHappened(view, event)}`;
}

/** How far a stage has loaded, on one line. */
export function loadingLine(view: RunView, stageIndex: number): string {
  const progress = view.stages.find(({ index }) => index === stageIndex)?.progress;
  if (progress?.phase === LoadPhase.PHASE_WAITING_EDGES)
    return `${stageName(view, stageIndex)}  waits for its neighbours`;
  const done = formatBytes(progress?.bytesDone ?? 0n);
  return `${stageName(view, stageIndex)}  loaded ${done} of ${formatBytes(progress?.bytesTotal ?? 0n)}`;
}

function whatHappened(view: RunView, { detail, generation }: RunEvent): string {
  switch (detail?.$case) {
    case 'runPhase':
      return runPhase(detail.value, generation);
    case 'stagePhase':
      return `${stageName(view, detail.value.stageIndex)}${earlier(view, generation)}  ${label.stagePhase(detail.value.phase)}`;
    case 'fault': {
      const { stageIndex, fault } = detail.value;
      const why = fault ? `${label.faultReason(fault.reason)}: ${fault.message}` : 'no reason given';
      return `${stageName(view, stageIndex)}  fault  ${escapeControls(why)}`;
    }
    case 'reservationExceeded': {
      const next = 'nothing to do now: the next plan of such a stage reserves more';
      return `${stageName(view, detail.value.stageIndex)}  ${exceededPhrase(detail.value)}; ${next}`;
    }
    case 'restartRefused': {
      const { message, attemptsLeft } = detail.value;
      const next = attemptsLeft > 0 ? `${attemptsLeft} more attempts` : 'no attempt is left';
      return `cannot begin again: ${escapeControls(message)}; ${next}`;
    }
    default:
      return 'an event that this version of stageplane does not know';
  }
}

function runPhase(change: RunPhaseChanged, generation: number): string {
  const { cause, stages } = change;
  const again = stages.length > 0 ? `  generation ${generation} on ${nodesOf(stages)}` : '';
  return `${runState(change)}${again}${cause ? `  ${causeLine(cause)}` : ''}`;
}

function nodesOf(stages: readonly StageStatus[]): string {
  return escapeControls([...new Set(stages.map(({ nodeName, nodeId }) => nodeName || `node ${nodeId}`))].join(', '));
}

/** A stage that was lost may be heard of long after its run went on without it. */
function earlier(view: RunView, generation: number): string {
  return generation < view.generation ? ` of generation ${generation}` : '';
}

function stageName(view: RunView, stageIndex: number): string {
  const stage = view.stages.find(({ index }) => index === stageIndex);
  return stage ? `stage ${stageIndex} on ${escapeControls(stage.node)}` : `stage ${stageIndex}`;
}
