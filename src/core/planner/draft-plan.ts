import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import {
  type RunPlan,
  type RuntimeConfig,
  SamplingPolicy,
  TokenOutputPolicy,
} from '../../../gen/stageplane/v1/plan.js';
import type { PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { ORCHESTRATOR_NODE_ID } from '../ids.js';
import type { MemoryModel, NoMemoryModel } from '../model/memory-model.js';
import { completeRing, defaultActivationRing, defaultTokenRing } from './default-rings.js';
import { slowLinkWarnings } from './node-speed.js';
import { type PlacedStages, placeStages, type UnplacedStages } from './place-stages.js';
import { planRun } from './plan-run.js';
import type { PlanningRequest } from './planning-request.js';
import type { PoolNode } from './pool-node.js';
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

/** A plan that keeps every rule, and what belongs to it. */
export interface DraftedPlan {
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

export interface RefusedPlan {
  readonly kind: 'refused';
  readonly rejection: PlanRejection;
  /** As far as planning came. */
  readonly settings?: StageSettings | undefined;
  readonly input?: PlannerInput | undefined;
  readonly placed?: PlacedStages | UnplacedStages | undefined;
}

/** A request as one plan that keeps every rule and fits its nodes, or the first reason why there is none. */
export function draftPlan(planning: PlanningRequest, pool: readonly PoolNode[]): DraftedPlan | RefusedPlan {
  const { request, inspection, modelCuts: cuts, ledger, expected } = planning;
  if (!runModeOf(request)) return refused(rejectWithoutPrompt());
  const facts = factsOf(planning);
  if (!facts) return refused(rejectWithoutFacts());
  if (planning.modelObstacle !== undefined) return refused(rejectForModel(planning.modelObstacle));
  const asked = resolveSettings(request.settings, facts, inspection);
  const unable = rejectForSettings(asked);
  if (unable) return refused(unable, { settings: asked });

  const pricing = { inspection, rings: request.rings, ledger };
  const placed = placeStages({ request, facts, pool, settings: asked, cuts, pricing, expected });
  if (placed.kind === 'rejected') return refused(placed.rejection, { settings: asked, placed });
  const { settings } = placed;
  const input = plannerInput(planning, pool, { ...facts, maxSeqLen: BigInt(settings.contextLength) }, settings, placed);
  const so = { settings, input, placed };
  const outcome = planRun(input);
  if (outcome.kind === 'rejected') return refused(outcome.rejection, so);
  const { plan } = outcome;
  const priced = placed.priced ?? priceModel(pricing, settings);
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

function factsOf({ request, inspection }: PlanningRequest): ModelFacts | undefined {
  const facts = request.facts ?? inspection?.facts;
  return facts && { ...facts, ggufSource: facts.ggufSource ?? request.model };
}

function contextWarnings({ contextLength }: StageSettings, { modelId, maxSeqLen }: ModelFacts): string[] {
  if (BigInt(contextLength) <= maxSeqLen) return [];
  return [
    `a context of ${contextLength} tokens is more than the ${maxSeqLen} that ${modelId || 'the model'} was made for: ask for a shorter context, or expect poor text`,
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
    sampling: asked?.sampling ?? SamplingPolicy.create(),
    tokenOutputPolicy: asked?.tokenOutputPolicy || TokenOutputPolicy.TOKEN_OUTPUT_POLICY_EMIT_ALL,
    stop: asked?.stop ?? [],
  };
}

function usedNodes(plan: RunPlan, pool: readonly PoolNode[]): PoolNode[] {
  const used = new Set(plan.stages.map(({ nodeId }) => nodeId));
  return pool.filter(({ nodeId }) => used.has(nodeId));
}
