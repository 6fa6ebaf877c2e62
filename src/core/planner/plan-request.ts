import type { ModelFacts, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { type RunPlan, type RuntimeConfig, TokenOutputPolicy } from '../../../gen/stageplane/v1/plan.js';
import type {
  NodeExclusion,
  PlannerInput,
  PlanReport,
  PlanRequest,
  RunMode,
} from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { ORCHESTRATOR_NODE_ID, type RunId } from '../ids.js';
import { completeRing, defaultActivationRing, defaultTokenRing } from './default-rings.js';
import type { ModelCuts } from './model-cuts.js';
import { type PlacedStages, placeStages } from './place-stages.js';
import { fidelityOf } from './plan-fidelity.js';
import { canonicalPlanKey, givenPlacementReport, PLANNER_VERSION } from './plan-report.js';
import { planRun } from './plan-run.js';
import { obstacleFor, type PoolNode } from './pool-node.js';
import { rejectForCuts } from './reject-cuts.js';
import {
  rejectForModel,
  rejectForNodes,
  rejectForSettings,
  rejectWithoutFacts,
  rejectWithoutPrompt,
} from './request-rejections.js';
import { runModeOf } from './run-mode.js';
import { shareThreads } from './share-threads.js';
import { resolveSettings, settingsOfStages } from './stage-settings.js';

/** A launcher's request and all that planning it may look at. */
export interface PlanningRequest {
  readonly request: PlanRequest;
  /** What the orchestrator's own file says; absent when the request brought its own facts. */
  readonly inspection?: ModelInspection | undefined;
  /** Why that file cannot be planned with the engine, although it could be read; one sentence. */
  readonly modelObstacle?: string | undefined;
  /** Where the engine may cut that file; absent when it may anywhere, or nobody read it. */
  readonly modelCuts?: ModelCuts | undefined;
  /** What the launcher should know of how the request was completed; sentences for the report. */
  readonly warnings?: readonly string[] | undefined;
  /** Every known node, by ascending id. */
  readonly pool: readonly PoolNode[];
  readonly runId: RunId;
  /** SHA-256 of a text, as 64 hexadecimal digits. */
  readonly sha256: (text: string) => string;
}

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
  const mode = runModeOf(planning.request);
  if (!mode) return refuse(planning, pool, rejectWithoutPrompt());
  const facts = factsOf(planning);
  if (!facts) return refuse(planning, pool, rejectWithoutFacts());
  if (planning.modelObstacle !== undefined) return refuse(planning, pool, rejectForModel(planning.modelObstacle));

  const settings = resolveSettings(planning.request.settings, facts, planning.inspection);
  const unable = rejectForSettings(settings);
  if (unable) return refuse(planning, pool, unable, settings);
  const placed = placeStages({ request: planning.request, facts, pool, settings, cuts: planning.modelCuts });
  if (placed.kind === 'rejected') return refuse(planning, pool, placed.rejection, settings);

  const input = plannerInput(planning, pool, { ...facts, maxSeqLen: BigInt(settings.contextLength) }, settings, placed);
  const outcome = planRun(input);
  if (outcome.kind === 'rejected') return refuse(planning, pool, outcome.rejection, settings, input);
  const unfit =
    (planning.modelCuts && rejectForCuts(outcome.plan, planning.modelCuts)) ??
    rejectForNodes(outcome.plan, pool, settings);
  if (unfit) return refuse(planning, pool, unfit, settings, input);

  const shared = shareThreads(outcome.plan, pool, settings);
  if (shared.kind === 'rejected') return refuse(planning, pool, shared.rejection, settings, input);

  const stages = settingsOfStages(outcome.plan, settings, shared.threads, planning.inspection?.layers);
  const digest = requestDigest(planning);
  const planId = planning.sha256(canonicalPlanKey(digest, outcome.plan, stages));
  return {
    kind: 'planned',
    plan: outcome.plan,
    settings: stages,
    mode,
    planId,
    report: givenPlacementReport({
      requestDigest: digest,
      input,
      outcome: {
        kind: 'planned',
        plan: outcome.plan,
        planId,
        settings: stages,
      },
      exclusions: exclusionsOf(pool, new Set(outcome.plan.stages.map((stage) => stage.nodeId)), settings),
      nodesConsidered: pool.length,
      strategy: placed.strategy,
      selectedBecause: [placed.because],
      warnings: [...(planning.warnings ?? []), ...contextWarnings(settings, facts), ...shared.warnings],
      fidelity: fidelityOf(outcome.plan, pool, settings),
    }),
  };
}

function refuse(
  planning: PlanningRequest,
  pool: readonly PoolNode[],
  rejection: PlanRejection,
  settings?: StageSettings,
  input?: PlannerInput,
): PlanningOutcome {
  const report = givenPlacementReport({
    requestDigest: requestDigest(planning),
    input,
    outcome: { kind: 'rejected', rejection },
    exclusions: exclusionsOf(pool, new Set(), settings),
    nodesConsidered: pool.length,
    strategy: planning.request.placement === undefined ? 'even-split' : 'given',
    selectedBecause: [],
    warnings: [],
    fidelity: '',
  });
  return { kind: 'rejected', rejection, report };
}

function selectPool({ request, pool }: PlanningRequest): readonly PoolNode[] {
  if (request.pool?.$case !== 'nodes') return pool;
  const chosen = new Set(request.pool.value.nodeIds);
  return pool.filter((node) => chosen.has(node.nodeId));
}

function factsOf({ request, inspection }: PlanningRequest): ModelFacts | undefined {
  const facts = request.facts ?? inspection?.facts;
  return facts && { ...facts, ggufSource: facts.ggufSource ?? request.model };
}

function contextWarnings({ contextLength }: StageSettings, { modelId, maxSeqLen }: ModelFacts): string[] {
  if (BigInt(contextLength) <= maxSeqLen) return [];
  return [
    `a context of ${contextLength} tokens is more than the ${maxSeqLen} that ${modelId || 'the model'} was made for: lower settings.context_length, or expect poor text`,
  ];
}

function plannerInput(
  planning: PlanningRequest,
  pool: readonly PoolNode[],
  facts: ModelFacts,
  settings: StageSettings,
  placed: PlacedStages,
): PlannerInput {
  const { request } = planning;
  return {
    runId: planning.runId,
    orchestratorNodeId: ORCHESTRATOR_NODE_ID,
    model: facts,
    runtime: runtimeOf(request.runtime),
    // A node that takes no stage now is known all the same: it is refused with its own reason afterwards.
    candidatePool: pool.map((node) => node.nodeId),
    stageCount: placed.stageCount,
    placement: { placement: placed.placement },
    activationRing: completeRing(request.rings?.activation, defaultActivationRing(facts, settings)),
    tokenRing: completeRing(request.rings?.token, defaultTokenRing(settings)),
  };
}

function runtimeOf(asked: RuntimeConfig | undefined): RuntimeConfig {
  return {
    maxTokens: asked?.maxTokens ?? 0,
    prompt: asked?.prompt ?? { source: { $case: 'inline', value: '' } },
    sampling: asked?.sampling ?? { temperatureMillis: 0, topK: 0 },
    tokenOutputPolicy: asked?.tokenOutputPolicy || TokenOutputPolicy.TOKEN_OUTPUT_POLICY_EMIT_ALL,
  };
}

function exclusionsOf(
  pool: readonly PoolNode[],
  used: ReadonlySet<bigint>,
  settings: StageSettings | undefined,
): NodeExclusion[] {
  return pool
    .filter((node) => !used.has(node.nodeId))
    .map((node) => {
      const obstacle = obstacleFor(node, settings);
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
