import type { Run, RunEvent, RunSummary } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../../core/limits.js';
import { eventLine } from '../format/run-line.js';
import { advanceRun, type RunView, runViewOf } from '../run-view.js';
import { nothingYet, type TopEvent, type TopRun, type TopState, type TopUpdate } from './top-state.js';

/** The state after one update. What did not change stays the same object, so that nobody draws it again. */
export function reduce(state: TopState, update: TopUpdate): TopState {
  switch (update.kind) {
    case 'node':
      return { ...state, nodes: new Map(state.nodes).set(update.node.nodeId, update.node) };
    case 'node-removed':
      return { ...state, nodes: without(state.nodes, (id) => id === update.nodeId) };
    case 'nodes-told':
      return { ...state, nodes: without(state.nodes, (id) => !update.nodeIds.has(id)) };
    case 'event':
      return afterEvent(state, update.event);
    case 'revision':
      return update.revision > state.revision ? { ...state, revision: update.revision } : state;
    case 'runs':
      return afterList(state, update.summaries, update.isAll);
    case 'run':
      return withRun(state, readRun(state.runs.get(update.run.runId), update.run));
    case 'timeline':
      return afterTimeline(state, update.runId, update.events);
    case 'begun-anew':
      return { ...nothingYet, connection: state.connection };
    case 'connected':
      return { ...state, connection: { kind: 'connected' } };
    case 'lost':
      return afterLoss(state, update.at, update.why);
  }
}

function afterEvent(state: TopState, event: RunEvent): TopState {
  // After a reconnect nothing is told twice; a snapshot may be ahead of the events.
  if (event.revision <= (state.events.at(-1)?.revision ?? 0n)) return state;
  const known = state.runs.get(event.runId);
  const isNews = known !== undefined && event.revision > known.revision;
  const run = isNews
    ? { ...known, view: namedView(state, advanced(known.view, event)), revision: event.revision }
    : known;
  const told = tell(run?.view ?? unknownRun(event.runId), event);
  const timeline = run?.timeline && [...run.timeline, told].slice(-limits.topTimelineEvents);
  const events = [...state.events, told].slice(-limits.topEvents);
  const heard = reduce({ ...state, events }, { kind: 'revision', revision: event.revision });
  return withRun(heard, run && { ...run, timeline });
}

/** Runs that are older than the oldest of the list are not known to be gone, unless it has all. */
function afterList(state: TopState, summaries: readonly RunSummary[], isAll: boolean): TopState {
  const listed = new Set(summaries.map(({ runId }) => runId));
  const oldest = summaries.at(-1)?.runId ?? 0n;
  const runs = new Map(without(state.runs, (id) => !listed.has(id) && (isAll || id >= oldest)));
  for (const summary of summaries) {
    const known = runs.get(summary.runId);
    if (!known) runs.set(summary.runId, summarised(summary));
    else if (known.modelId === '' || known.cause !== summary.cause) {
      runs.set(summary.runId, { ...known, modelId: summary.modelId, cause: summary.cause });
    }
  }
  const isSame = runs.size === state.runs.size && [...runs].every(([id, run]) => state.runs.get(id) === run);
  return isSame ? state : { ...state, runs: new Map([...runs].sort(([a], [b]) => (a < b ? 1 : -1))) };
}

function summarised({ runId, phase, outcome, generation, modelId, createdAt, cause }: RunSummary): TopRun {
  const view: RunView = { ...unknownRun(runId), phase, outcome, generation };
  // Nothing is known of its stages: whatever the run itself says is news.
  return { view, modelId, createdAt, revision: 0n, cause, textLoad: undefined, timeline: undefined };
}

function readRun(known: TopRun | undefined, run: Run): TopRun {
  const isOld = known !== undefined && run.revision < known.revision;
  const view = isOld ? known.view : runViewOf(run);
  const revision = isOld ? known.revision : run.revision;
  const { textLoad, createdAt } = run;
  const cause = known?.cause ?? '';
  return {
    view,
    modelId: run.plan?.model?.modelId ?? '',
    createdAt,
    revision,
    cause,
    textLoad,
    timeline: known?.timeline,
  };
}

function afterTimeline(state: TopState, runId: bigint, events: readonly RunEvent[]): TopState {
  const run = state.runs.get(runId);
  if (!run) return state;
  return withRun(state, {
    ...run,
    timeline: events.slice(-limits.topTimelineEvents).map((event) => tell(run.view, event)),
  });
}

/** The first word of a loss is the one that counts, and since when. */
function afterLoss(state: TopState, since: Date, why: string): TopState {
  if (state.connection.kind === 'lost') return state;
  return { ...state, connection: { kind: 'lost', since, why } };
}

function advanced(view: RunView, event: RunEvent): RunView {
  return advanceRun(view, { update: { $case: 'event', value: event } });
}

/** A stage that an event has moved carries its node's id; the pool knows the name. */
function namedView({ nodes }: TopState, view: RunView): RunView {
  const nameOf = (nodeId: bigint, node: string) =>
    node === `node ${nodeId}` ? (nodes.get(nodeId)?.name ?? node) : node;
  return { ...view, stages: view.stages.map((stage) => ({ ...stage, node: nameOf(stage.nodeId, stage.node) })) };
}

function tell(view: RunView, event: RunEvent): TopEvent {
  return { revision: event.revision, runId: event.runId, line: eventLine(view, event) };
}

function unknownRun(runId: bigint): RunView {
  return { runId, phase: 0, outcome: 0, cause: undefined, generation: 0, fidelity: '', stages: [] };
}

function withRun(state: TopState, run: TopRun | undefined): TopState {
  if (!run) return state;
  const { runId } = run.view;
  if (state.runs.has(runId)) return { ...state, runs: new Map(state.runs).set(runId, run) };
  // Newest first.
  return { ...state, runs: new Map([...state.runs, [runId, run] as const].sort(([a], [b]) => (a < b ? 1 : -1))) };
}

function without<Value>(map: ReadonlyMap<bigint, Value>, isGone: (id: bigint) => boolean): ReadonlyMap<bigint, Value> {
  const kept = [...map].filter(([id]) => !isGone(id));
  return kept.length === map.size ? map : new Map(kept);
}
