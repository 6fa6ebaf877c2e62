import type koffi from 'koffi';
import { layoutFault } from './abi-guard.js';
import { bindLlama, type LlamaApi } from './llama-api.js';
import {
  type FindLlamaOptions,
  findLlamaPackage,
  LLAMA_BUILD,
  type LlamaPackage,
  type LlamaRefusal,
} from './llama-package.js';
import { QuietLog } from './quiet-log.js';
import { defineStructs, type Structs } from './structs.js';

/** The library, checked and with its CPU kernels loaded. */
export interface LlamaLibrary {
  readonly kind: 'opened';
  readonly koffi: typeof koffi;
  readonly api: LlamaApi;
  readonly structs: Structs;
  readonly log: QuietLog;
}

let opened: Promise<LlamaLibrary | LlamaRefusal> | undefined;

/** Loads the library of this platform, once per thread; a refusal says why there is none. */
export function openLlamaLibrary(): Promise<LlamaLibrary | LlamaRefusal> {
  opened ??= load({});
  return opened;
}

async function load(options: FindLlamaOptions): Promise<LlamaLibrary | LlamaRefusal> {
  const found = findLlamaPackage(options);
  if (found.kind === 'refused') return found;
  try {
    // Imported only here: whoever runs another engine needs no FFI.
    const { default: koffi } = await import('koffi');
    const structs = defineStructs(koffi);
    const api = bindLlama(koffi, found, structs);
    const fault = layoutFault(koffi.sizeof, structs, api);
    if (fault !== undefined) {
      const message = `${found.libraries.llama} is not the llama.cpp ${LLAMA_BUILD.release} it says: ${fault}; install the package again`;
      return { kind: 'refused', reason: 'other-layout', message };
    }
    const log = new QuietLog(koffi, koffi.load(found.libraries.llama), api);
    loadKernels(api, found);
    return { kind: 'opened', koffi, api, structs, log };
  } catch (error) {
    const message = `${found.libraries.llama} does not load on this machine: ${(error as Error).message}`;
    return { kind: 'refused', reason: 'library-broken', message };
  }
}

/** Backends belong to the process, not to the thread: another thread may have loaded them. */
function loadKernels(api: LlamaApi, { folder }: LlamaPackage): void {
  if (Number(api.backendDevices()) === 0) api.loadBackends(folder);
  if (Number(api.backendDevices()) === 0) throw new Error(`${folder} has no kernels for this processor`);
}
