import type { PlacementConstraints } from '../../../gen/stageplane/v1/planner.js';
import { KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { nodeId } from '../ids.js';
import { limits } from '../limits.js';
import type { MemoryModel } from '../model/memory-model.js';
import type { PlacementNode, PlacementProblem } from '../placement/placement-problem.js';
import { kvCacheTypesOf } from './engine-traits.js';
import type { Placing } from './place-stages.js';

/** The question that a request puts to the search. `stage_count`, when given, is both bounds. */
export function placementProblem(
  { placing, constraints, model }: { placing: Placing; constraints: PlacementConstraints; model: MemoryModel },
  nodes: readonly PlacementNode[],
): PlacementProblem {
  const { cuts, request } = placing;
  const { minStages, maxStages, maxMicrosecondsPerToken, pins } = constraints;
  const count = request.stageCount;
  const ends = model.parts(0, model.numLayers);
  return {
    numLayers: model.numLayers,
    starts: cuts && (cuts.kind === 'uncut' ? [] : cuts.starts),
    refusedLengths: cuts?.kind === 'cuttable' ? cuts.refusedLengths.map(({ layers }) => layers) : [],
    bytes: model.bytes,
    bytesRead: model.readPerToken,
    embeddingBytes: ends.embedding,
    headBytes: ends.head,
    nodes,
    minStages: count || minStages || 1,
    maxStages: count || maxStages || Math.max(1, nodes.length),
    pins: new Map(pins.map((pin) => [pin.stageIndex, nodeId(pin.nodeId)])),
    ...(maxMicrosecondsPerToken !== undefined && { maxSecondsPerToken: Number(maxMicrosecondsPerToken) / 1e6 }),
  };
}

/** The KV cache type of the settings, and after it the smaller ones that the engine has, when they are allowed. */
export function cacheTypesToTry(
  { engine, kvCacheType }: StageSettings,
  { allowKvQuantisation }: Pick<PlacementConstraints, 'allowKvQuantisation'>,
): KvCacheType[] {
  if (!allowKvQuantisation) return [kvCacheType];
  const bySize = [KvCacheType.KV_CACHE_TYPE_F16, KvCacheType.KV_CACHE_TYPE_Q8_0, KvCacheType.KV_CACHE_TYPE_Q4_0];
  const smaller = bySize.slice(bySize.indexOf(kvCacheType) + 1);
  const offered = kvCacheTypesOf(engine);
  return [kvCacheType, ...smaller.filter((type) => offered?.includes(type) ?? true)];
}

/** Half the context, half of that, and so on. */
export function shorterContexts({ contextLength }: StageSettings): number[] {
  const shorter: number[] = [];
  for (let tokens = Math.floor(contextLength / 2); tokens >= limits.leastContextHint; tokens = Math.floor(tokens / 2)) {
    shorter.push(tokens);
  }
  return shorter;
}
