import { LoadProgress_Phase as LoadPhase, StagePhase } from '../../../gen/stageplane/v1/run.js';
import { formatBytes } from '../../core/format-bytes.js';
import type { RunView, StageView } from '../run-view.js';
import { causeLine } from './cause.js';
import { escapeControls } from './escape.js';
import { exceededPhrase } from './exceeded-phrase.js';
import { label } from './labels.js';
import { progressBar } from './layer-bar.js';
import { runState } from './run-state.js';

const BAR_CELLS = 24;

/** A run as a picture for a live terminal: one line for the run, one per stage. */
export function runFrame(view: RunView): string {
  const nodeWidth = Math.max(...view.stages.map(({ node }) => escapeControls(node).length), 0);
  const again = view.generation > 1 ? `  generation ${view.generation}` : '';
  const cause = view.cause ? [`  ${causeLine(view.cause)}`] : [];
  const fidelity = view.fidelity ? `  fidelity ${escapeControls(view.fidelity)}` : '';
  return [
    `run ${view.runId}  ${runState(view)}${again}${fidelity}`,
    ...view.stages.map((stage) => stageLine(stage, nodeWidth)),
    ...cause,
  ].join('\n');
}

function stageLine(stage: StageView, nodeWidth: number): string {
  const node = escapeControls(stage.node).padEnd(nodeWidth);
  const head = `  stage ${stage.index}  ${node}  [${stage.layerStart}, ${stage.layerEnd})`;
  return `${head}  ${label.stagePhase(stage.phase).padEnd(8)}${loading(stage)}${exceeded(stage)}`.trimEnd();
}

function exceeded({ phase, exceeded }: StageView): string {
  return phase === StagePhase.STAGE_PHASE_READY && exceeded ? `  ${exceededPhrase(exceeded)}` : '';
}

function loading({ phase, progress }: StageView): string {
  if (phase !== StagePhase.STAGE_PHASE_LOADING || !progress) return '';
  if (progress.phase === LoadPhase.PHASE_WAITING_EDGES) return '  waits for its neighbours';
  const { bytesDone, bytesTotal } = progress;
  return `  ${progressBar(bytesDone, bytesTotal, BAR_CELLS)}  ${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`;
}
