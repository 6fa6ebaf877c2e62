import { KvCacheType } from '../../../gen/stageplane/v1/provision.js';

/** What the planner must know of an engine. Of somebody else's it knows nothing, and leaves it to the worker to refuse. */
interface EngineTraits {
  /** Whether it computes with as many CPU threads as it is told: then they are reserved, like memory. */
  readonly threaded: boolean;
  readonly kvCacheTypes?: readonly KvCacheType[];
}

const traits: ReadonlyMap<string, EngineTraits> = new Map([
  ['llama.cpp', { threaded: true, kvCacheTypes: [KvCacheType.KV_CACHE_TYPE_F16] }],
]);

export function isThreaded(engine: string): boolean {
  return traits.get(engine)?.threaded ?? false;
}

/** How an engine can store keys and values; undefined when that is for its worker to say. */
export function kvCacheTypesOf(engine: string): readonly KvCacheType[] | undefined {
  return traits.get(engine)?.kvCacheTypes;
}
