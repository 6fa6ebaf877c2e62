import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Node } from '../../gen/stageplane/v1/node.js';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { Fidelity, KvCacheType, StageSettings } from '../../gen/stageplane/v1/provision.js';
import { askedSampling } from './asked-sampling.js';
import { automaticPlacement } from './automatic-placement.js';
import type { modelOperand, planSettings } from './commands/plan-settings.js';
import type { Values } from './config/setting.js';
import type { Violation } from './failure.js';
import { findNode } from './find-node.js';

/** What `plan` and `run` both take. */
export type PlanValuesOnly = Values<typeof planSettings & typeof modelOperand>;

export type BuiltRequest =
  | { readonly kind: 'built'; readonly request: PlanRequest }
  | { readonly kind: 'refused'; readonly problems: readonly Violation[] };

/** What the flags of `plan` and `run` ask for. Whether it makes sense is the orchestrator's to say. */
export function buildPlanRequest(values: PlanValuesOnly, nodes: readonly Node[]): BuiltRequest {
  const { file, stages = 0 } = values;
  const placed = placeStages(values, nodes);
  if (placed.problems.length > 0) return { kind: 'refused', problems: placed.problems };
  const settings = settingsOf(values);
  const runtime = runtimeOf(values);
  const request = PlanRequest.fromPartial({
    model: { source: { $case: 'localPath', value: existsSync(file) ? resolve(file) : file } },
    stageCount: stages,
    ...(settings && { settings }),
    ...(runtime && { runtime }),
    placement: placed.placement,
  });
  return { kind: 'built', request };
}

const fidelities = { fast: Fidelity.FIDELITY_FAST, exact: Fidelity.FIDELITY_EXACT };
const kvCacheTypes = {
  f16: KvCacheType.KV_CACHE_TYPE_F16,
  q8_0: KvCacheType.KV_CACHE_TYPE_Q8_0,
  q4_0: KvCacheType.KV_CACHE_TYPE_Q4_0,
};

/** Undefined when every setting is left to the orchestrator. */
function settingsOf(values: PlanValuesOnly): StageSettings | undefined {
  const { context, engine, threads, microBatch, sessions, fidelity, kvCacheType, flashAttention, seed } = values;
  const asked = {
    contextLength: context,
    engine,
    threads,
    microBatch,
    sessions,
    fidelity: fidelity && fidelities[fidelity],
    kvCacheType: kvCacheType && kvCacheTypes[kvCacheType],
    flashAttention: flashAttention || undefined,
    seed,
  };
  return Object.values(asked).some((value) => value !== undefined) ? StageSettings.fromPartial(asked) : undefined;
}

/** Undefined when nothing is asked of the text. */
function runtimeOf(values: PlanValuesOnly): RuntimeConfig | undefined {
  const { maxTokens = 0, stop } = values;
  const sampling = askedSampling(values);
  if (maxTokens === 0 && sampling === undefined && stop.length === 0) return undefined;
  return RuntimeConfig.fromPartial({ maxTokens, sampling: sampling ?? {}, stop: [...stop] });
}

/** Whether the request can only be made by someone who knows the nodes. */
export function namesNodes({ place, maxLayers, exclude, pin }: PlanValuesOnly): boolean {
  return place !== undefined || [maxLayers, exclude, pin].some((named) => named.length > 0);
}

/** The placement as given, or else the orchestrator's to choose. */
function placeStages(values: PlanValuesOnly, nodes: readonly Node[]) {
  const { place, layers } = values;
  if (!place) return automaticPlacement(values, nodes);
  const problems: Violation[] = [];
  const stages = place.flatMap(({ stage, node }) => {
    const found = findNode(nodes, node);
    if (found.kind === 'found') return [{ stageIndex: stage, nodeId: found.node.nodeId }];
    problems.push({ field: '--place', message: found.message });
    return [];
  });
  if (!layers) return { problems, placement: { $case: 'fixedLinear', value: { stages } } as const };
  const ranges = new Map(layers.map((range) => [range.stage, range]));
  const placedRanges = stages.map((stage) => {
    const { start = 0, end = 0 } = ranges.get(stage.stageIndex) ?? {};
    return { ...stage, layerStart: start, layerEndExclusive: end };
  });
  return { problems, placement: { $case: 'layerRanges', value: { stages: placedRanges } } as const };
}
