import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { Fidelity, KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { type PlanRejection, PlanRejectionKind, type PlanViolation } from '../../../gen/stageplane/v1/rejection.js';
import { limits } from '../limits.js';
import { kvCacheTypesOf } from './engine-traits.js';
import { buildsOf } from './plan-fidelity.js';
import { type NodeObstacle, nodesById, obstacleFor, type PoolNode } from './pool-node.js';
import { needsSamplingFeature, samplingObstacle } from './sampling-feature.js';

/** Neither the request nor the orchestrator's disk says what the model is. */
export function rejectWithoutFacts(): PlanRejection {
  const message = 'the request has no model facts and the orchestrator read none: name a GGUF file it can read';
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
    message,
    violations: [{ field: 'facts', message }],
  };
}

/** A run for one prompt, and there is none. */
export function rejectWithoutPrompt(): PlanRejection {
  const message =
    'a ONE_SHOT run answers one prompt, and this request has none: set runtime.prompt, or ask for SERVING';
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
    message,
    violations: [{ field: 'runtime.prompt', message }],
  };
}

/** The file could be read, but nothing can be planned from it. */
export function rejectForModel(message: string): PlanRejection {
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_UNSUPPORTED_MODEL,
    message,
    violations: [{ field: 'model', message }],
  };
}

/** The engine is known not to have what the settings ask of it, on any node. */
export function rejectForSettings({ engine, kvCacheType }: StageSettings): PlanRejection | undefined {
  const types = kvCacheTypesOf(engine);
  if (types === undefined || types.includes(kvCacheType)) return undefined;
  const name = (type: KvCacheType) => String(KvCacheType[type]).replace('KV_CACHE_TYPE_', '');
  const message = `engine "${engine}" does not store keys and values as ${name(kvCacheType)}: set kv_cache_type ${types.map(name).join(' or ')}`;
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS,
    message,
    violations: [{ field: 'settings.kv_cache_type', message }],
  };
}

/** No placement was given, and there are too few nodes to make one. */
export function rejectForPool(usable: number, stageCount: number, obstacles: readonly NodeObstacle[]): PlanRejection {
  const message =
    usable === 0
      ? 'no node can take a stage: start an agent with `stageplane agent`, or look at `stageplane nodes list`'
      : `${stageCount} stages need ${stageCount} nodes, ${usable} can take one: start more agents, ask for fewer stages, or place several stages on one node`;
  const reasons = obstacles.slice(0, limits.violationsPerRejection - 1).map((obstacle) => obstacle.message);
  const violations = [message, ...reasons].map((text) => ({ field: 'stage_count', message: text }));
  return { kind: PlanRejectionKind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS, message, violations };
}

/** The plan is whole, but nodes that it names take no stage now or lack the engine. */
export function rejectForNodes(
  plan: RunPlan,
  pool: readonly PoolNode[],
  settings: StageSettings,
): PlanRejection | undefined {
  const nodes = nodesById(pool);
  const violations: PlanViolation[] = [];
  const exact = settings.fidelity === Fidelity.FIDELITY_EXACT;
  const needsSampling = needsSamplingFeature(plan.runtime?.sampling);
  const [reference] = exact ? buildsOf(plan, pool, settings.engine) : [];
  for (const stage of plan.stages) {
    const node = nodes.get(stage.nodeId);
    const message =
      node &&
      (obstacleFor(node, settings)?.message ??
        exactnessObstacle(node, settings, reference) ??
        (needsSampling ? samplingObstacle(node, settings.engine) : undefined));
    if (message)
      violations.push({
        field: `stages[${stage.stageIndex}].node_id`,
        message,
      });
    if (violations.length === limits.violationsPerRejection) break;
  }
  const [first] = violations;
  if (!first) return undefined;
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_NODE_NOT_SCHEDULABLE,
    message: first.message,
    violations,
  };
}

/** An EXACT run has one engine build; the node that has another one is named. */
function exactnessObstacle(
  node: PoolNode,
  settings: StageSettings,
  reference: readonly [build: string, node: PoolNode] | undefined,
): string | undefined {
  const build = node.engines.find(({ name }) => name === settings.engine)?.build;
  if (!reference || build === reference[0]) return undefined;
  return `node "${node.name}" runs build ${build} of engine "${settings.engine}", node "${reference[1].name}" build ${reference[0]}: an exact run needs one build, so leave one of them out or ask for fast`;
}
