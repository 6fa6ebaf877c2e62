import type { Placement } from '../../../src/core/placement/placement.js';
import type { PlacementNode, PlacementProblem } from '../../../src/core/placement/placement-problem.js';

type Measures = Pick<Placement, 'secondsPerToken' | 'slowestStageSeconds' | 'peakUtilisation'> & { stages: number };

/**
 * Every way to place a model: all orders of all choices of nodes, all contiguous splits. Slow, and plainly right. The
 * nodes of `order` come only in that order.
 */
export function* everyPlacement(
  problem: PlacementProblem,
  order: readonly PlacementNode[] = [],
  start = 0,
  used: readonly PlacementNode[] = [],
  so: Measures = { secondsPerToken: 0, slowestStageSeconds: 0, peakUtilisation: 0, stages: 0 },
): Iterable<Measures> {
  const { numLayers, minStages, pins } = problem;
  if (start === numLayers) {
    const pinsMet = [...pins.keys()].every((stage) => stage < so.stages);
    if (so.stages >= minStages && pinsMet) yield so;
    return;
  }
  if (so.stages === problem.maxStages) return;
  const pinned = pins.get(so.stages);
  for (const node of problem.nodes) {
    if (order.indexOf(node) < Math.max(...used.map((other) => order.indexOf(other))) && order.includes(node)) continue;
    if (used.includes(node) || (pinned !== undefined && pinned !== node.nodeId)) continue;
    for (let end = start + 1; end <= numLayers; end++) {
      if (!isAllowed(problem, node, start, end)) continue;
      const seconds = problem.bytesRead(start, end) * node.secondsPerByte + node.hopSeconds;
      const share = (problem.bytes(start, end) + node.overhead) / node.capacity;
      yield* everyPlacement(problem, order, end, [...used, node], {
        secondsPerToken: so.secondsPerToken + seconds,
        slowestStageSeconds: Math.max(so.slowestStageSeconds, seconds),
        peakUtilisation: Math.max(so.peakUtilisation, share),
        stages: so.stages + 1,
      });
    }
  }
}

export function isAllowed(problem: PlacementProblem, node: PlacementNode, start: number, end: number): boolean {
  const { numLayers, starts, refusedLengths } = problem;
  const mayStart = start === 0 || !starts || starts.includes(start);
  const mayEnd = end === numLayers || !starts || starts.includes(end);
  const refused = refusedLengths?.includes(end - start) && end - start < numLayers;
  const fits = problem.bytes(start, end) + node.overhead <= node.usable;
  return mayStart && mayEnd && !refused && fits && end - start <= (node.maxLayers ?? numLayers);
}

/** The least of a measure over every placement; Infinity when there is none. */
export function leastOf(
  problem: PlacementProblem,
  measure: keyof Measures,
  order: readonly PlacementNode[] = [],
): number {
  let least = Number.POSITIVE_INFINITY;
  for (const placement of everyPlacement(problem, order)) least = Math.min(least, placement[measure]);
  return least;
}
