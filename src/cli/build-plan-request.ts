import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Node } from '../../gen/stageplane/v1/node.js';
import { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import type { PlanValues } from './commands/plan.js';
import type { Violation } from './failure.js';
import { findNode } from './find-node.js';

export type PlanValuesOnly = Pick<PlanValues, 'file' | 'stages' | 'place' | 'layers' | 'context' | 'engine'>;

export type BuiltRequest =
  | { readonly kind: 'built'; readonly request: PlanRequest }
  | { readonly kind: 'refused'; readonly problems: readonly Violation[] };

/** What the flags of `plan` and `run` ask for. Whether it makes sense is the orchestrator's to say. */
export function buildPlanRequest(values: PlanValuesOnly, nodes: readonly Node[]): BuiltRequest {
  const { file, stages = 0, context, engine } = values;
  const placed = placeStages(values, nodes);
  if (placed.problems.length > 0) return { kind: 'refused', problems: placed.problems };
  const settings =
    context !== undefined || engine !== undefined ? { contextLength: context ?? 0, engine: engine ?? '' } : undefined;
  const request = PlanRequest.fromPartial({
    model: { source: { $case: 'localPath', value: existsSync(file) ? resolve(file) : file } },
    stageCount: stages,
    ...(settings && { settings }),
    ...(placed.placement && { placement: placed.placement }),
  });
  return { kind: 'built', request };
}

function placeStages({ place, layers }: PlanValuesOnly, nodes: readonly Node[]) {
  const problems: Violation[] = [];
  const stages = (place ?? []).flatMap(({ stage, node }) => {
    const found = findNode(nodes, node);
    if (found.kind === 'found') return [{ stageIndex: stage, nodeId: found.node.nodeId }];
    problems.push({ field: '--place', message: found.message });
    return [];
  });
  if (!place) return { problems, placement: undefined };
  if (!layers) return { problems, placement: { $case: 'fixedLinear', value: { stages } } as const };
  const ranges = new Map(layers.map((range) => [range.stage, range]));
  const placedRanges = stages.map((stage) => {
    const { start = 0, end = 0 } = ranges.get(stage.stageIndex) ?? {};
    return { ...stage, layerStart: start, layerEndExclusive: end };
  });
  return { problems, placement: { $case: 'layerRanges', value: { stages: placedRanges } } as const };
}
