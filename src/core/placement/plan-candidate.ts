import {
  CandidateStatus,
  type Estimate,
  type EstimateBasis,
  type LayerRangesPlacement,
  type MemoryBreakdown,
  type PlanCandidate,
} from '../../../gen/stageplane/v1/planner.js';
import type { Candidate, CandidateFate } from './candidate.js';
import type { Placement } from './placement.js';

const statusOf: Record<CandidateFate, CandidateStatus> = {
  selected: CandidateStatus.CANDIDATE_STATUS_SELECTED,
  feasible: CandidateStatus.CANDIDATE_STATUS_FEASIBLE,
  infeasible: CandidateStatus.CANDIDATE_STATUS_INFEASIBLE,
  'rejected-policy': CandidateStatus.CANDIDATE_STATUS_REJECTED_POLICY,
  'rejected-dominated': CandidateStatus.CANDIDATE_STATUS_REJECTED_DOMINATED,
};

/** What only the maker of the problem knows of a candidate. */
export interface CandidateDetails {
  /** In stage order. */
  readonly memory: readonly MemoryBreakdown[];
  /** Where the seconds come from. */
  readonly basis: EstimateBasis;
  /** One sentence on the seconds; may be empty. */
  readonly note: string;
  readonly profilingRequired: boolean;
}

/** A candidate as the report tells of it. */
export function planCandidate(candidate: Candidate, details: CandidateDetails): PlanCandidate {
  const { name, strategy, fate, placement, reasons } = candidate;
  const { basis, note } = details;
  const estimate = (value: number, unit: string): Estimate => ({ value, unit, basis, note });
  const seconds = placement?.secondsPerToken;
  return {
    name,
    strategy,
    stageCount: placement?.stages.length ?? 0,
    status: statusOf[fate],
    memory: [...details.memory],
    secondsPerToken: seconds === undefined ? undefined : estimate(seconds, 'seconds'),
    tokensPerSecond: seconds ? estimate(1 / seconds, 'tokens/s') : undefined,
    profilingRequired: details.profilingRequired,
    reasons: [...reasons],
  };
}

/** The placement as the planner takes it. */
export function layerRangesOf({ stages }: Placement): LayerRangesPlacement {
  return {
    stages: stages.map(({ node, layerStart, layerEndExclusive }, stageIndex) => ({
      stageIndex,
      nodeId: node.nodeId,
      layerStart,
      layerEndExclusive,
    })),
  };
}
