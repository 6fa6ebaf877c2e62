import type { ModelFacts, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { type RunPlan, type RuntimeConfig, TokenOutputPolicy } from '../../../gen/stageplane/v1/plan.js';
import type {
  NodeExclusion,
  PlannerInput,
  PlanReport,
  PlanRequest,
  RunMode,
  SelectedPlan,
} from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { ORCHESTRATOR_NODE_ID, type RunId } from '../ids.js';
import type { MemoryModel, NoMemoryModel } from '../model/memory-model.js';
import type { Ledger } from '../model/stage-footprint.js';
import { completeRing, defaultActivationRing, defaultTokenRing } from './default-rings.js';
import type { ModelCuts } from './model-cuts.js';
import { slowLinkWarnings } from './node-speed.js';
import { type PlacedStages, placeStages, type UnplacedStages } from './place-stages.js';
import { fidelityOf } from './plan-fidelity.js';
import { canonicalPlanKey, PLANNER_VERSION, planReport } from './plan-report.js';
import { planRun } from './plan-run.js';
import { type NodeObstacle, obstacleFor, type PoolNode } from './pool-node.js';
import { infeasibleCandidate, pricedCandidate } from './priced-candidate.js';
import { rejectForCuts } from './reject-cuts.js';
import { memoryWarnings, nodeLoads, rejectForMemory } from './reject-memory.js';
import {
  rejectForModel,
  rejectForNodes,
  rejectForSettings,
  rejectWithoutFacts,
  rejectWithoutPrompt,
} from './request-rejections.js';
import { runModeOf } from './run-mode.js';
import { shareThreads } from './share-threads.js';
import { priceModel, reservationsOf } from './stage-pricing.js';
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
  /** What earlier runs measured of stages with such settings. */
  readonly ledger?: ((settings: StageSettings) => Ledger) | undefined;
  /** What a dry run of this request has chosen: an automatic placement is not searched again, and only has to fit. */
  readonly expected?: SelectedPlan | undefined;
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

/** A plan that keeps every rule, and what belongs to it. */
interface DraftedPlan {
  readonly kind: 'drafted';
  readonly input: PlannerInput;
  readonly plan: RunPlan;
  readonly placed: PlacedStages;
  /** Of the run; its stages differ in threads and bytes. */
  readonly settings: StageSettings;
  readonly stages: readonly StageSettings[];
  readonly priced: MemoryModel | NoMemoryModel;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

interface RefusedPlan {
  readonly kind: 'refused';
  readonly rejection: PlanRejection;
  /** As far as planning came. */
  readonly settings?: StageSettings | undefined;
  readonly input?: PlannerInput | undefined;
  readonly placed?: PlacedStages | UnplacedStages | undefined;
}

/** Fills a request's gaps and plans it. Pure: the same request and pool give the same plan and report. */
export function planRequest(planning: PlanningRequest): PlanningOutcome {
  const pool = selectPool(planning);
  const outcome = draftPlan(planning, pool);
  return outcome.kind === 'drafted' ? complete(planning, pool, outcome) : refuse(planning, pool, outcome);
}

function draftPlan(planning: PlanningRequest, pool: readonly PoolNode[]): DraftedPlan | RefusedPlan {
  const { request, inspection, modelCuts: cuts, ledger, expected } = planning;
  if (!runModeOf(request)) return refused(rejectWithoutPrompt());
  const facts = factsOf(planning);
  if (!facts) return refused(rejectWithoutFacts());
  if (planning.modelObstacle !== undefined) return refused(rejectForModel(planning.modelObstacle));
  const asked = resolveSettings(request.settings, facts, inspection);
  const unable = rejectForSettings(asked);
  if (unable) return refused(unable, { settings: asked });

  const pricing = { inspection, rings: request.rings, pool, ledger };
  const placed = placeStages({ request, facts, pool, settings: asked, cuts, pricing, expected });
  if (placed.kind === 'rejected') return refused(placed.rejection, { settings: asked, placed });
  const { settings } = placed;
  const input = plannerInput(planning, pool, { ...facts, maxSeqLen: BigInt(settings.contextLength) }, settings, placed);
  const so = { settings, input, placed };
  const outcome = planRun(input);
  if (outcome.kind === 'rejected') return refused(outcome.rejection, so);
  const { plan } = outcome;
  const priced = priceModel(pricing, settings);
  const loads = priced.kind === 'unknown' ? [] : nodeLoads(plan, pool, priced, settings);
  const unfit = (cuts && rejectForCuts(plan, cuts)) ?? rejectForNodes(plan, pool, settings) ?? rejectForMemory(loads);
  if (unfit) return refused(unfit, so);
  const shared = shareThreads(plan, pool, settings);
  if (shared.kind === 'rejected') return refused(shared.rejection, so);
  const reserved = reservationsOf(priced, plan.stages);
  const stages = settingsOfStages(plan, settings, shared.threads, reserved, inspection?.layers);
  const warnings = [
    ...contextWarnings(settings, facts),
    ...shared.warnings,
    ...memoryWarnings(loads),
    ...slowLinkWarnings(usedNodes(plan, pool), Number(facts.hiddenDim) * Number(facts.dtypeWidthBytes)),
  ];
  return { kind: 'drafted', input, plan, placed, settings, stages, priced, warnings };
}

function refused(rejection: PlanRejection, so: Omit<RefusedPlan, 'kind' | 'rejection'> = {}): RefusedPlan {
  return { kind: 'refused', rejection, ...so };
}

function complete(planning: PlanningRequest, pool: readonly PoolNode[], drafted: DraftedPlan): PlanningOutcome {
  const { plan, placed, settings, stages, input } = drafted;
  const digest = requestDigest(planning);
  const planId = planning.sha256(canonicalPlanKey(digest, plan, stages));
  const candidate = pricedCandidate(drafted, pool);
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
      candidates: placed.candidates ?? [candidate],
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

function usedNodes(plan: RunPlan, pool: readonly PoolNode[]): PoolNode[] {
  const used = new Set(plan.stages.map(({ nodeId }) => nodeId));
  return pool.filter(({ nodeId }) => used.has(nodeId));
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
