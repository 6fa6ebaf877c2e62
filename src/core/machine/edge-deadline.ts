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

/**
 * When the patience with a run's edges ends. Undefined before every stage is loaded and after the barrier, and while a
 * node that is waited for is not reconciled; it starts anew when one is. The token endpoint waits for the nodes of the
 * two stages beside it.
 */
export function edgeDeadline(
  run: RunState,
  contactOf: (id: NodeId) => Contact | undefined,
  timings: Timings,
): EdgeDeadline | undefined {
  const { loadedSince } = run.volatile;
  if (run.phase !== 'WAITING_READY' || loadedSince === undefined) return undefined;
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

/** The fault's sentence: who waits for whom, and what to look at. */
export function missedEdges(
  run: RunState,
  waiting: StageState | undefined,
  timings: Timings,
  nameOf: (id: NodeId) => string,
): string {
  const at = (index: number) => {
    const stage = run.stages[index];
    return stage ? `stage ${index} on node "${nameOf(stage.nodeId)}"` : 'the token endpoint';
  };
  const advice = 'see --edge-listen on the node that is connected to, and --edge-address where it is connected from';
  const seconds = `${timings.edges / 1000} s after all stages were loaded`;
  if (waiting) {
    const { index } = waiting;
    const edges = `its edges from ${at(index - 1)} and to ${at(index + 1)}`;
    return `${at(index)} of run ${run.runId} still waits for ${edges}, ${seconds}: ${advice}`;
  }
  const edges = `its edges to ${at(0)} and from ${at(run.stages.length - 1)}`;
  return `the token endpoint of run ${run.runId} is not ready, ${seconds}; it waits for ${edges}: ${advice}`;
}
