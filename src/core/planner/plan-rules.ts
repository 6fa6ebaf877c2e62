import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import { smallTokenRings, wrongEdges, wrongObjectSpecs } from './edge-rules.js';
import type { PlanRule } from './first-rejection.js';
import { layerRangeFaults } from './layer-range-faults.js';
import { emptyObjects, emptyRows, objectsTooLarge, tooFewLayers, unusableRings } from './model-rules.js';
import type { PlanFault } from './plan-fault.js';
import type { PlanSubject } from './plan-subject.js';
import { sameSource } from './same-source.js';

/** The contract of a plan that somebody else made, in the order of the planner's own checks where it has them. */
export const planRules: readonly PlanRule<PlanSubject>[] = [
  {
    decides: [Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT],
    faults: foreignRunIds,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_STAGE_COUNT],
    faults: wrongStageCounts,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH],
    faults: tooFewLayers,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC],
    faults: emptyObjects,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_UNSUPPORTED_SHAPE_OR_LAYOUT],
    faults: emptyRows,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_RING_SPEC],
    faults: unusableRings,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_DUPLICATE_STAGE_ASSIGNMENT, Kind.PLAN_REJECTION_KIND_MISSING_STAGE],
    faults: misnumberedStages,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH],
    faults: wrongLayerRanges,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH],
    faults: foreignModels,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH],
    faults: wrongEdges,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC],
    faults: objectsTooLarge,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC, Kind.PLAN_REJECTION_KIND_UNSUPPORTED_SHAPE_OR_LAYOUT],
    faults: wrongObjectSpecs,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_RING_SPEC],
    faults: smallTokenRings,
  },
];

function* foreignRunIds({ plan }: PlanSubject): Iterable<PlanFault> {
  for (const list of ['stages', 'edges'] as const) {
    for (const [position, { runId }] of plan[list].entries()) {
      if (runId === plan.runId) continue;
      yield {
        kind: 'run-id-differs',
        field: `${list}[${position}].run_id`,
        got: runId,
        expected: plan.runId,
      };
    }
  }
}

function* wrongStageCounts({ plan, stageCount }: PlanSubject): Iterable<PlanFault> {
  if (stageCount === 0) yield { kind: 'no-stages', field: 'stages' };
  for (const [position, { stageCount: got }] of plan.stages.entries()) {
    if (got === stageCount) continue;
    yield {
      kind: 'stage-count-differs',
      field: `stages[${position}].stage_count`,
      got,
      expected: stageCount,
    };
  }
}

function* misnumberedStages({ plan }: PlanSubject): Iterable<PlanFault> {
  const seen = new Map<number, string>();
  for (const [position, { stageIndex }] of plan.stages.entries()) {
    const field = `stages[${position}].stage_index`;
    const first = seen.get(stageIndex);
    if (first !== undefined) yield { kind: 'duplicate-stage', field, stageIndex, first };
    else if (stageIndex !== position) {
      yield {
        kind: 'stage-out-of-order',
        field,
        got: stageIndex,
        expected: position,
      };
    }
    if (first === undefined) seen.set(stageIndex, `stages[${position}]`);
  }
}

function wrongLayerRanges({ plan, numLayers }: PlanSubject): Iterable<PlanFault> {
  const ranges = plan.stages.map(({ stageIndex, layerStart, layerEndExclusive }, position) => ({
    stageIndex,
    field: `stages[${position}]`,
    start: layerStart,
    endExclusive: layerEndExclusive,
  }));
  return layerRangeFaults(ranges, numLayers);
}

function* foreignModels({ plan }: PlanSubject): Iterable<PlanFault> {
  for (const [position, { ggufSource, stageIndex }] of plan.stages.entries()) {
    if (sameSource(ggufSource, plan.model.ggufSource)) continue;
    yield {
      kind: 'gguf-source-differs',
      field: `stages[${position}].gguf_source`,
      stageIndex,
    };
  }
}
