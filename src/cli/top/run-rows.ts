import { LoadProgress_Phase as LoadPhase, RunOutcome, RunPhase, StagePhase } from '../../../gen/stageplane/v1/run.js';
import { causeLine } from '../format/cause.js';
import { formatAge } from '../format/duration.js';
import { escapeControls } from '../format/escape.js';
import { label } from '../format/labels.js';
import { shortened } from '../format/node-title.js';
import { runFrame } from '../format/run-frame.js';
import { textSpeed } from '../format/text-speed.js';
import type { RunView, StageView } from '../run-view.js';
import type { Row, Tone } from './pool-rows.js';
import type { TopRun } from './top-state.js';

const PHASE_COLUMNS = 13;

export const runHead = (width: number): string =>
  line('RUN', 'PHASE', 'MODEL'.padEnd(modelColumns(width)), 'READY', 'AGE', 'STAGES OR CAUSE');

/** One row per run, newest first. */
export function runRows(runs: Iterable<TopRun>, now: Date, width: number): Row[] {
  return [...runs].map((run) => ({
    key: String(run.view.runId),
    tone: toneOf(run.view),
    text: rowOf(run, now, width),
  }));
}

/** A run as a whole: its stages, its load, and what has happened to it. */
export function runDetails(run: TopRun, now: Date): string[] {
  const { view, modelId, createdAt, textLoad, timeline } = run;
  const age = createdAt ? `created ${formatAge(createdAt, now)} ago` : '';
  const load = textLoad
    ? `${textLoad.runningAnswers} answers under way, ${textLoad.waitingPrompts} waiting, ${textSpeed(textLoad.tokensPerSecond)}`
    : '';
  // Of a later one the first line tells.
  const generation = view.generation === 1 ? 'generation 1' : '';
  const told = timeline?.map((event) => event.line) ?? ['reading what has happened to it ...'];
  const about = [escapeControls(modelId), age, generation, load].filter(Boolean).join('  ');
  return [...runFrame(view).split('\n'), about, '', ...told];
}

function rowOf(run: TopRun, now: Date, width: number): string {
  const { view, modelId, createdAt } = run;
  const { stages, runId } = view;
  const ready = stages.filter(({ phase }) => phase === StagePhase.STAGE_PHASE_READY).length;
  const model = shortened(escapeControls(modelId), modelColumns(width)).padEnd(modelColumns(width));
  const count = stages.length > 0 ? `${ready}/${stages.length}` : '-';
  const age = createdAt ? formatAge(createdAt, now) : '-';
  return line(String(runId), stateOf(view), model, count, age, `${loadOf(run)}${storyOf(run)}`);
}

function stateOf({ phase, outcome }: RunView): string {
  return outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED && phase === RunPhase.RUN_PHASE_DONE
    ? label.runOutcome(outcome)
    : label.runPhase(phase);
}

/** The speed first, since a narrow terminal shows no more. A run that only reads a prompt has none. */
function loadOf({ textLoad }: TopRun): string {
  if (!textLoad || textLoad.runningAnswers + textLoad.waitingPrompts === 0) return '';
  const { runningAnswers, waitingPrompts, tokensPerSecond } = textLoad;
  const speed = tokensPerSecond > 0 ? `${textSpeed(tokensPerSecond)}  ` : '';
  return `${speed}${runningAnswers} answering, ${waitingPrompts} waiting  `;
}

/** Why it ended, or where its stages are and how far. */
function storyOf({ view, cause }: TopRun): string {
  if (view.cause) return causeLine(view.cause);
  if (cause !== '' && view.outcome === RunOutcome.RUN_OUTCOME_FAULTED) return escapeControls(cause);
  return view.stages.map(stageStrip).join(' ');
}

/** `[0-8 alpha ready]` */
function stageStrip(stage: StageView): string {
  return `[${stage.layerStart}-${stage.layerEnd} ${escapeControls(stage.node)} ${stageState(stage)}]`;
}

function stageState({ phase, progress }: StageView): string {
  if (phase !== StagePhase.STAGE_PHASE_LOADING || !progress) return label.stagePhase(phase).toLowerCase();
  if (progress.phase === LoadPhase.PHASE_WAITING_EDGES) return 'edges';
  const { bytesDone, bytesTotal } = progress;
  return bytesTotal > 0n ? `${(bytesDone * 100n) / bytesTotal}%` : 'loading';
}

function toneOf({ phase, outcome, cause }: RunView): Tone {
  if (outcome === RunOutcome.RUN_OUTCOME_FAULTED || cause) return 'bad';
  if (phase === RunPhase.RUN_PHASE_DONE) return 'plain';
  return phase === RunPhase.RUN_PHASE_RUNNING ? 'good' : 'busy';
}

function line(id: string, phase: string, model: string, ready: string, age: string, story: string): string {
  return `${id.padStart(5)}  ${phase.padEnd(PHASE_COLUMNS)}  ${model}  ${ready.padStart(5)}  ${age.padStart(4)}  ${story}`;
}

function modelColumns(width: number): number {
  return width < 100 ? 10 : 24;
}
