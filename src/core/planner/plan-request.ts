import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { NodeExclusion, PlanReport, PlanRequest, RunMode } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { type DraftedPlan, draftPlan, type RefusedPlan } from './draft-plan.js';
import { fidelityOf } from './plan-fidelity.js';
import { canonicalPlanKey, PLANNER_VERSION, planReport } from './plan-report.js';
import type { PlanningRequest } from './planning-request.js';
import { type NodeObstacle, obstacleFor, type PoolNode } from './pool-node.js';
import { infeasibleCandidate, pricedCandidate } from './priced-candidate.js';
import { runModeOf } from './run-mode.js';

export type PlanningOutcome =
  | {
      readonly kind: 'planned';
      readonly plan: RunPlan;
      readonly settings: readonly StageSettings[];
      readonly mode: RunMode;
      readonly planId: string;
      readonly report: PlanReport;
    }
  | {
      readonly kind: 'rejected';
      readonly rejection: PlanRejection;
      readonly report: PlanReport;
    };

/** Fills a request's gaps and plans it. Pure: the same request and pool give the same plan and report. */
export function planRequest(planning: PlanningRequest): PlanningOutcome {
  const pool = selectPool(planning);
  const outcome = draftPlan(planning, pool);
  return outcome.kind === 'drafted' ? complete(planning, pool, outcome) : refuse(planning, pool, outcome);
}

function complete(planning: PlanningRequest, pool: readonly PoolNode[], drafted: DraftedPlan): PlanningOutcome {
  const { plan, placed, settings, stages, input } = drafted;
  const digest = requestDigest(planning);
  const planId = planning.sha256(canonicalPlanKey(digest, plan, stages));
  return {
    kind: 'planned',
    plan,
    settings: stages,
    mode: runModeOf(planning.request)!,
    planId,
    report: planReport({
      requestDigest: digest,
      input,
      outcome: { kind: 'planned', plan, planId, settings: stages },
      candidates: placed.candidates ?? [pricedCandidate(drafted, pool)],
      exclusions: exclusionsOf(pool, new Set(plan.stages.map((stage) => stage.nodeId)), settings, placed.obstacles),
      nodesConsidered: pool.length,
      strategy: placed.strategy,
      selectedBecause: placed.because,
      warnings: [...(planning.warnings ?? []), ...drafted.warnings],
      fidelity: fidelityOf(plan, pool, settings),
    }),
  };
}

function refuse(planning: PlanningRequest, pool: readonly PoolNode[], so: RefusedPlan): PlanningOutcome {
  const { rejection, settings, input, placed } = so;
  const strategy = placed?.kind === 'placed' ? placed.strategy : strategyOf(planning.request);
  const report = planReport({
    requestDigest: requestDigest(planning),
    input,
    outcome: { kind: 'rejected', rejection },
    candidates: placed?.candidates ?? [infeasibleCandidate(strategy, input?.stageCount ?? 0, rejection)],
    exclusions: exclusionsOf(pool, new Set(), settings, placed?.obstacles),
    nodesConsidered: pool.length,
    strategy,
    selectedBecause: [],
    warnings: [],
    hint: placed?.kind === 'rejected' ? placed.hint : undefined,
    fidelity: '',
  });
  return { kind: 'rejected', rejection, report };
}

/** Who would have made the placement. */
function strategyOf({ placement }: PlanRequest): string {
  if (placement === undefined) return 'even-split';
  return placement.$case === 'automatic' ? 'automatic' : 'given';
}

function selectPool({ request, pool }: PlanningRequest): readonly PoolNode[] {
  if (request.pool?.$case !== 'nodes') return pool;
  const chosen = new Set(request.pool.value.nodeIds);
  return pool.filter((node) => chosen.has(node.nodeId));
}

function exclusionsOf(
  pool: readonly PoolNode[],
  used: ReadonlySet<bigint>,
  settings: StageSettings | undefined,
  obstacles: ReadonlyMap<bigint, NodeObstacle> | undefined,
): NodeExclusion[] {
  return pool
    .filter((node) => !used.has(node.nodeId))
    .map((node) => {
      const obstacle = obstacles?.get(node.nodeId) ?? obstacleFor(node, settings);
      const message = obstacle?.message ?? `node "${node.name}" is free; no stage is placed on it`;
      return { nodeId: node.nodeId, nodeName: node.name, reason: obstacle?.reason ?? 'not-chosen', message };
    });
}

function requestDigest({ request, sha256 }: PlanningRequest): string {
  return sha256(`${PLANNER_VERSION}\n${stableText(request)}`);
}

/** The same value gives the same text: objects in the order that the codec makes them, 64-bit integers in digits. */
function stableText(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner));
}
