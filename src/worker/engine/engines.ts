import { findLlamaPackage } from './llama/llama-package.js';
import type { SessionEngine } from './session-engine.js';

/** An engine that this worker can load. Its code is imported only when it is made: a worker waits without it. */
export interface EngineEntry {
  /** Devices it can use, as in `Device.device_id`. */
  readonly devices: readonly string[];
  make(): Promise<SessionEngine>;
}

const fixture: EngineEntry = {
  devices: ['cpu'],
  make: async () => {
    const { SessionEngine } = await import('./session-engine.js');
    const { loadFixtureLayers } = await import('./fixture/load-fixture-layers.js');
    return new SessionEngine(loadFixtureLayers);
  },
};

const llama: EngineEntry = {
  devices: ['cpu'],
  make: async () => {
    const { SessionEngine } = await import('./session-engine.js');
    const { llamaLoader } = await import('./llama/load-llama-layers.js');
    const { sliceSettings } = await import('./llama/slice-settings.js');
    return new SessionEngine(llamaLoader(sliceSettings()));
  },
};

/** By the name that `StageSettings.engine` gives. llama.cpp only where its library is the one that it is made for. */
export const engines: ReadonlyMap<string, EngineEntry> = new Map([
  ['fixture', fixture],
  ...(findLlamaPackage().kind === 'found' ? [['llama.cpp', llama] as const] : []),
]);
