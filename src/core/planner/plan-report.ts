import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import {
  CandidateStatus,
  LayerRangesPlacement,
  type NodeExclusion,
  type PlanCandidate,
  type PlannerInput,
  type PlanReport,
} from '../../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { placementWarnings } from './placement-warnings.js';

/** Changes whenever the same request could get another plan: plan ids of two versions never meet. */
export const PLANNER_VERSION = 'stageplane-planner/2';

/** What became of a placement that the launcher gave. */
export type GivenOutcome =
  | {
      kind: 'planned';
      plan: RunPlan;
      planId: string;
      settings: readonly StageSettings[];
    }
  | { kind: 'rejected'; rejection: PlanRejection };

export interface GivenPlacement {
  /** SHA-256 of the request, 64 hexadecimal digits. */
  requestDigest: string;
  /** What planRun was given; absent when planning ended before that. */
  input: PlannerInput | undefined;
  outcome: GivenOutcome;
  exclusions: readonly NodeExclusion[];
  /** Nodes looked at, those excluded among them (I15). */
  nodesConsidered: number;
  /** "given" when the launcher named the placement, "even-split" when it was made from the pool. */
  strategy: 'given' | 'even-split';
  /** Why this placement, one sentence each. */
  selectedBecause: readonly string[];
  /** What is worth knowing beyond the placement itself. */
  warnings: readonly string[];
  /** "exact", "same-kernels" or "mixed"; empty without a plan. */
  fidelity: string;
}

/** The report of a placement that was given, not searched for: one candidate, selected or infeasible. Pure. */
export function givenPlacementReport(given: GivenPlacement): PlanReport {
  const { outcome, input } = given;
  const planned = outcome.kind === 'planned';
  return {
    plannerVersion: PLANNER_VERSION,
    requestDigest: given.requestDigest,
    selected: planned
      ? {
          planId: outcome.planId,
          strategy: given.strategy,
          placement: placementOf(outcome.plan),
          settings: outcome.settings.map((settings) => ({ ...settings })),
          selectedBecause: [...given.selectedBecause],
        }
      : undefined,
    candidates: [givenCandidate(given)],
    exclusions: given.exclusions.map((exclusion) => ({ ...exclusion })),
    nodesConsidered: given.nodesConsidered,
    warnings: [
      ...given.warnings,
      ...(planned && input ? placementWarnings(input, outcome.plan, outcome.settings) : []),
    ],
    noValidPlanHint: undefined,
    fidelity: given.fidelity,
  };
}

/**
 * The text whose SHA-256 is the plan id: planner version, request digest, placement and settings. The run's id is not in
 * it, nor any measurement, so the same request gets the same id on another day.
 */
export function canonicalPlanKey(requestDigest: string, plan: RunPlan, settings: readonly StageSettings[]): string {
  return JSON.stringify([
    PLANNER_VERSION,
    requestDigest,
    LayerRangesPlacement.toJSON(placementOf(plan)),
    settings.map((stage) => StageSettings.toJSON(stage)),
  ]);
}

/** The placement that a plan came to, in stage order, with every layer range spelled out. */
function placementOf(plan: RunPlan): LayerRangesPlacement {
  return {
    stages: plan.stages.map(({ stageIndex, nodeId, layerStart, layerEndExclusive }) => ({
      stageIndex,
      nodeId,
      layerStart,
      layerEndExclusive,
    })),
  };
}

function givenCandidate({ outcome, input, strategy }: GivenPlacement): PlanCandidate {
  const planned = outcome.kind === 'planned';
  return {
    name: strategy,
    strategy,
    stageCount: planned ? outcome.plan.stages.length : (input?.stageCount ?? 0),
    status: planned ? CandidateStatus.CANDIDATE_STATUS_SELECTED : CandidateStatus.CANDIDATE_STATUS_INFEASIBLE,
    memory: [],
    secondsPerToken: undefined,
    tokensPerSecond: undefined,
    profilingRequired: false,
    reasons: planned ? [] : [outcome.rejection.message],
  };
}
