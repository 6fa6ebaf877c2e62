import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import {
  LayerRangesPlacement,
  type NodeExclusion,
  type NoValidPlanHint,
  type PlanCandidate,
  type PlannerInput,
  type PlanReport,
} from '../../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { placementWarnings } from './placement-warnings.js';

/** Changes whenever the same request could get another plan: plan ids of two versions never meet. */
export const PLANNER_VERSION = 'stageplane-planner/2';

/** What planning came to. */
export type ReportedOutcome =
  | {
      kind: 'planned';
      plan: RunPlan;
      planId: string;
      settings: readonly StageSettings[];
    }
  | { kind: 'rejected'; rejection: PlanRejection };

export interface ReportSubject {
  /** SHA-256 of the request, 64 hexadecimal digits. */
  requestDigest: string;
  /** What planRun was given; absent when planning ended before that. */
  input: PlannerInput | undefined;
  outcome: ReportedOutcome;
  /** Everything that was looked at; the placement that was given is the only one. */
  candidates: readonly PlanCandidate[];
  exclusions: readonly NodeExclusion[];
  /** Nodes looked at, those excluded among them (I15). */
  nodesConsidered: number;
  /** "given", or who made the placement. */
  strategy: string;
  /** Why this placement, one sentence each. */
  selectedBecause: readonly string[];
  /** What is worth knowing beyond the placement itself. */
  warnings: readonly string[];
  /** What would have made a plan. */
  hint?: NoValidPlanHint | undefined;
  /** "exact", "same-kernels" or "mixed"; empty without a plan. */
  fidelity: string;
}

/** How the answer came about. Pure: nothing of it but numbers depends on anything that was measured. */
export function planReport(subject: ReportSubject): PlanReport {
  const { outcome, input } = subject;
  const planned = outcome.kind === 'planned';
  return {
    plannerVersion: PLANNER_VERSION,
    requestDigest: subject.requestDigest,
    selected: planned
      ? {
          planId: outcome.planId,
          strategy: subject.strategy,
          placement: placementOf(outcome.plan),
          settings: outcome.settings.map((settings) => ({ ...settings })),
          selectedBecause: [...subject.selectedBecause],
        }
      : undefined,
    candidates: subject.candidates.map((candidate) => ({ ...candidate })),
    exclusions: subject.exclusions.map((exclusion) => ({ ...exclusion })),
    nodesConsidered: subject.nodesConsidered,
    warnings: [
      ...subject.warnings,
      ...(planned && input ? placementWarnings(input, outcome.plan, outcome.settings) : []),
    ],
    noValidPlanHint: subject.hint,
    fidelity: subject.fidelity,
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
    // What earlier runs measured is in the reservation.
    settings.map((stage) => StageSettings.toJSON({ ...stage, reservedBytes: 0n })),
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
