import { findLlamaPackage, type LlamaPackage, type LlamaRefusal } from './llama/llama-package.js';
import type { SessionEngine } from './session-engine.js';

/** An engine that this worker can load. Its code is imported only when it is made: a worker waits without it. */
export interface EngineEntry {
  /** Devices it can use, as in `Device.device_id`; undefined when it takes any. */
  readonly devices: readonly string[] | undefined;
  /** Whether `build` and `make` load native code, which ends the process where it does not suit the machine. */
  readonly isNative: boolean;
  /** What decides its arithmetic on this machine; undefined when that cannot be told. */
  build(): Promise<string | undefined>;
  make(): Promise<SessionEngine>;
}

const fixture: EngineEntry = {
  devices: ['cpu'],
  isNative: false,
  // Integers and 32-bit floats of JavaScript: the same everywhere.
  build: async () => 'fixture 1',
  make: async () => {
    const { SessionEngine } = await import('./session-engine.js');
    const { loadFixtureLayers } = await import('./fixture/load-fixture-layers.js');
    return new SessionEngine(loadFixtureLayers);
  },
};

const llama: EngineEntry = {
  devices: ['cpu'],
  isNative: true,
  build: async () => {
    const { openLlamaLibrary } = await import('./llama/llama-library.js');
    const { libraryBuild } = await import('./llama/library-build.js');
    const library = await openLlamaLibrary();
    return library.kind === 'opened' ? libraryBuild() : undefined;
  },
  make: async () => {
    const { SessionEngine } = await import('./session-engine.js');
    const { llamaLoader } = await import('./llama/load-llama-layers.js');
    const { sliceSettings } = await import('./llama/slice-settings.js');
    return new SessionEngine(llamaLoader(sliceSettings()));
  },
};

export interface EngineList {
  /** By the name that `StageSettings.engine` gives. */
  readonly offered: ReadonlyMap<string, EngineEntry>;
  /** Why an engine that this program knows is not offered here, as a sentence. */
  readonly absent: ReadonlyMap<string, string>;
}

/** llama.cpp is offered only where its library is the one that it is made for. */
export function listEngines(library: LlamaPackage | LlamaRefusal): EngineList {
  return library.kind === 'found'
    ? { offered: new Map([...always, ['llama.cpp', llama]]), absent: new Map() }
    : { offered: new Map(always), absent: new Map([['llama.cpp', library.message]]) };
}

const always = [['fixture', fixture]] as const;

/** The engines of this worker on this machine. */
export const engineList: EngineList = listEngines(findLlamaPackage());
