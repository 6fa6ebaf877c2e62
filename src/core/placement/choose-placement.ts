import type { Candidate } from './candidate.js';
import { constraintConflict } from './constraint-conflict.js';
import { listCandidates, strategies } from './list-candidates.js';
import { achieved, comparable, compareBy, type Objective, percentText, secondsText } from './objective.js';
import type { Placement } from './placement.js';
import { type PlacementFault, placementFault } from './placement-fault.js';
import type { PlacementProblem } from './placement-problem.js';
import { searchGrid } from './search-grid.js';

/** A candidate with a placement. */
export interface PlacedCandidate extends Candidate {
  readonly placement: Placement;
}

export type PlacementOutcome =
  | {
      readonly kind: 'placed';
      readonly selected: PlacedCandidate;
      /** One sentence each. */
      readonly selectedBecause: readonly string[];
      /** All that were looked at, the selected one among them, in the order of the strategies. */
      readonly candidates: readonly Candidate[];
    }
  | { readonly kind: 'rejected'; readonly fault: PlacementFault; readonly candidates: readonly Candidate[] };

/**
 * The best placement for an objective, with everything that was looked at, or why there is none. Pure, total over problems
 * that keep their contract, and deterministic: ties are broken by the other measures, then by the order of strategies.
 */
export function choosePlacement(problem: PlacementProblem, objective: Objective): PlacementOutcome {
  const conflict = constraintConflict(problem);
  if (conflict) {
    const candidates = strategies.map(({ name }): Candidate => {
      return { name, strategy: name, fate: 'rejected-policy', placement: undefined, reasons: [conflict.reason] };
    });
    return { kind: 'rejected', fault: { kind: 'infeasible-constraints', ...conflict }, candidates };
  }
  const listed = listCandidates(searchGrid(problem), objective);
  const compare = compareBy(objective);
  const feasible = listed.filter(isFeasible).sort((a, b) => compare(a.placement, b.placement));
  const [best] = feasible;
  if (!best) return { kind: 'rejected', fault: placementFault(problem), candidates: listed };
  const selected: PlacedCandidate = { ...best, fate: 'selected' };
  const candidates = listed.map((candidate) => {
    if (candidate === best) return selected;
    return isFeasible(candidate) ? settled(candidate, best, feasible, objective) : candidate;
  });
  // Strategies often come to the same; what is alike in every measure is one placement to a reader.
  const distinct = feasible.filter((it, at) => at === 0 || compare(feasible[at - 1]!.placement, it.placement) !== 0);
  const selectedBecause = because(problem, objective, selected, distinct);
  return { kind: 'placed', selected, selectedBecause, candidates };
}

function isFeasible(candidate: Candidate): candidate is PlacedCandidate {
  return candidate.fate === 'feasible';
}

/** Why a feasible candidate was not selected. */
function settled(
  candidate: PlacedCandidate,
  best: PlacedCandidate,
  feasible: readonly PlacedCandidate[],
  objective: Objective,
): Candidate {
  const { placement } = candidate;
  const dominant = feasible.find((other) => dominates(other.placement, placement));
  if (dominant) {
    const reason = `no better than ${dominant.name} in stages, seconds per token and peak utilisation, and worse in one: ${summary(placement)} against ${summary(dominant.placement)}`;
    return { ...candidate, fate: 'rejected-dominated', reasons: [reason] };
  }
  const alike = compareBy(objective)(placement, best.placement) === 0;
  const reason = alike
    ? `comes to the same as ${best.name}`
    : `${achieved(objective, placement)}, ${best.name} comes to ${achieved(objective, best.placement)}`;
  return { ...candidate, reasons: [reason] };
}

/** No worse in stages, seconds per token and peak utilisation, and better in one. */
function dominates(a: Placement, b: Placement): boolean {
  const pairs = [
    [a.stages.length, b.stages.length],
    [a.secondsPerToken, b.secondsPerToken],
    [a.peakUtilisation, b.peakUtilisation],
  ] as const;
  const signs = pairs.map(([left, right]) => comparable(left) - comparable(right));
  return signs.every((sign) => sign <= 0) && signs.some((sign) => sign < 0);
}

function summary({ stages, secondsPerToken, peakUtilisation }: Placement): string {
  const count = stages.length === 1 ? '1 stage' : `${stages.length} stages`;
  return `${count}, ${secondsText(secondsPerToken)}, ${percentText(peakUtilisation)}`;
}

function because(
  problem: PlacementProblem,
  objective: Objective,
  { placement }: PlacedCandidate,
  distinct: readonly PlacedCandidate[],
): string[] {
  const [, next] = distinct;
  const among = next
    ? `the best of ${distinct.length} placements that fit`
    : 'the only placement that was found to fit';
  const used = `it uses ${placement.stages.length} of ${problem.nodes.length} nodes that can take a stage`;
  return [
    `objective ${objective}: ${achieved(objective, placement)}, ${among}`,
    ...(next ? [`the next best, ${next.name}, comes to ${achieved(objective, next.placement)}`] : []),
    `${used}, ${percentText(placement.peakUtilisation)} of the fullest device`,
  ];
}
