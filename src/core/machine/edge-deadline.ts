import { LoadProgress_Phase } from '../../../gen/stageplane/v1/run.js';
import { type Millis, millis, type NodeId } from '../ids.js';
import type { Contact, RunState, StageState } from './state.js';
import type { Timings } from './timings.js';

export interface EdgeDeadline {
  readonly at: Millis;
  /** The first stage that waits; absent when only the token endpoint is missing. */
  readonly waiting: StageState | undefined;
}

/** Loaded, and not ready since its neighbours are not connected yet: that is no want of loading progress. */
export function waitsForEdges({ phase, volatile }: StageState): boolean {
  return phase === 'LOADING' && volatile.progress?.phase === LoadProgress_Phase.PHASE_WAITING_EDGES;
}

export function isLoaded(stage: StageState): boolean {
  return stage.phase === 'READY' || waitsForEdges(stage);
}

/** Edges are to come up: before the barrier, and again when another token endpoint takes the run over. */
export function awaitsEdges({ phase, volatile }: RunState): boolean {
  return phase === 'WAITING_READY' || (phase === 'RUNNING' && volatile.endpoint === 'opening');
}

/**
 * When the patience with a run's edges ends. Undefined before every stage is loaded and when all edges are up, and while
 * a node that is waited for is not reconciled; it starts anew when one is. The token endpoint waits for the nodes of the
 * two stages beside it.
 */
export function edgeDeadline(
  run: RunState,
  contactOf: (id: NodeId) => Contact | undefined,
  timings: Timings,
): EdgeDeadline | undefined {
  const { loadedSince } = run.volatile;
  if (!awaitsEdges(run) || loadedSince === undefined) return undefined;
  const waiting = run.stages.filter((stage) => stage.phase !== 'READY');
  const awaited = waiting.length > 0 ? waiting : [run.stages[0]!, run.stages.at(-1)!];
  let since: number = loadedSince;
  for (const { nodeId } of awaited) {
    const reconciledAt = contactOf(nodeId)?.reconciledAt;
    if (reconciledAt === undefined) return undefined;
    since = Math.max(since, reconciledAt);
  }
  return { at: millis(since + timings.edges), waiting: waiting[0] };
}

/** The fault's sentence: whose edges are missing, and what to look at. */
export function missedEdges(
  { runId, stages }: RunState,
  waiting: StageState | undefined,
  timings: Timings,
  nameOf: (id: NodeId) => string,
): string {
  const end = (index: number) => {
    const stage = stages[index];
    return stage ? `stage ${index} on node "${nameOf(stage.nodeId)}"` : 'the token endpoint';
  };
  const [who, from, to] = waiting
    ? [
        `stage ${waiting.index} of run ${runId} on node "${nameOf(waiting.nodeId)}"`,
        waiting.index - 1,
        waiting.index + 1,
      ]
    : [`the token endpoint of run ${runId}`, stages.length - 1, 0];
  const waited = `${who} waited ${timings.edges / 1000} s for its edges from ${end(from)} and to ${end(to)}`;
  const advice = 'check --edge-listen on the node that is connected to, and --edge-address where it is connected from';
  return `${waited}, with every stage loaded: ${advice}`;
}
