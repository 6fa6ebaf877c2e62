import type { LlamaApi } from './llama-api.js';
import type { LlamaLibrary } from './llama-library.js';
import type { Pointer } from './structs.js';

/** Threads that compute for one context. */
export interface ThreadPool {
  readonly pointer: Pointer;
  /** Only after the context was freed. */
  free(): void;
}

/**
 * A pool whose threads sleep as soon as there is no work. ggml's own go on looking for work for a while, which is right
 * for a program alone on its machine; the stages of one machine would take each other's cores that way, and a token
 * would take ten times as long.
 */
export function sleepingThreadPool({ koffi, api, structs }: LlamaLibrary, threads: number): ThreadPool {
  const params = { ...api.defaultThreadPoolParams(threads), poll: 0 };
  const memory = koffi.alloc(structs.threadPoolParams, 1);
  koffi.encode(memory, structs.threadPoolParams, params);
  const pointer = koffi.call(cpuFunction(api, 'ggml_threadpool_new'), koffi.proto('void*', ['void*']), memory);
  koffi.free(memory);
  if (pointer === null) throw new Error(`no pool of ${threads} threads could be made`);
  const free = koffi.proto('void', ['void*']);
  return { pointer, free: () => koffi.call(cpuFunction(api, 'ggml_threadpool_free'), free, pointer) };
}

/** A function of the CPU kernels' own library, which has one file per kind of processor. */
function cpuFunction(api: LlamaApi, name: string): Pointer {
  for (let device = 0; device < Number(api.backendDevices()); device++) {
    const address = api.procAddress(api.backendOf(api.backendDevice(device)), name);
    if (address !== null) return address;
  }
  throw new Error(`no backend of llama.cpp has ${name}`);
}
