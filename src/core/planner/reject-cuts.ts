import type { RunPlan, StagePlan } from '../../../gen/stageplane/v1/plan.js';
import { type PlanRejection, PlanRejectionKind, type PlanViolation } from '../../../gen/stageplane/v1/rejection.js';
import { limits } from '../limits.js';
import { type ModelCuts, mostStages, neighbours } from './model-cuts.js';

/**
 * Why the engine does not cut a model as a plan does; undefined when it does. The kind is MODEL_STAGE_LAYOUT_MISMATCH,
 * as for every layer range that does not suit its model: the model itself is supported, since another layout of it, if
 * only a single stage, would be planned. UNSUPPORTED_MODEL is for one that no layout helps.
 */
export function rejectForCuts({ model, stages }: RunPlan, cuts: ModelCuts): PlanRejection | undefined {
  if (stages.length < 2) return undefined;
  const name = `${model?.modelId || 'the model'} on engine "${cuts.engine}"`;
  const violations = violationsOf(stages, cuts, name);
  const [first] = violations;
  if (!first) return undefined;
  const kind = PlanRejectionKind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH;
  return { kind, message: first.message, violations };
}

function violationsOf(stages: readonly StagePlan[], cuts: ModelCuts, name: string): PlanViolation[] {
  const most = mostStages(cuts);
  if (cuts.kind === 'uncut') {
    return [{ field: 'stage_count', message: `${name} cannot be cut: ${cuts.because}; plan a single stage` }];
  }
  if (stages.length > most) {
    const message = `${name} is cut ${cuts.rule}, into at most ${most}: ask for fewer than ${stages.length} stages`;
    return [{ field: 'stage_count', message }];
  }
  const allowed = new Set(cuts.starts);
  return stages
    .flatMap((stage) => [...startViolation(stage, cuts, allowed, name), ...lengthViolation(stage, cuts, name)])
    .slice(0, limits.violationsPerRejection);
}

type Cuttable = Extract<ModelCuts, { kind: 'cuttable' }>;

function startViolation(
  { stageIndex, layerStart }: StagePlan,
  { starts, rule }: Cuttable,
  allowed: ReadonlySet<number>,
  name: string,
): PlanViolation[] {
  if (layerStart === 0 || allowed.has(layerStart)) return [];
  const near = neighbours(starts, layerStart).join(' or ');
  const message =
    `stage ${stageIndex} begins at layer ${layerStart}, where ${name} cannot be cut, ${rule}: ` +
    `give layer ranges that begin it at ${near}`;
  return [{ field: `stages[${stageIndex}].layer_start`, message }];
}

function lengthViolation(stage: StagePlan, { refusedLengths }: Cuttable, name: string): PlanViolation[] {
  const { stageIndex, layerStart, layerEndExclusive } = stage;
  const refused = refusedLengths.find(({ layers }) => layers === layerEndExclusive - layerStart);
  if (!refused) return [];
  const message =
    `stage ${stageIndex} is [${layerStart}, ${layerEndExclusive}), and no stage of ${name} may have ${refused.layers} ` +
    `layers, which ${refused.because}: give it one layer more or less`;
  return [{ field: `stages[${stageIndex}].layer_end_exclusive`, message }];
}
