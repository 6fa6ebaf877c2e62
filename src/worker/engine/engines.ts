import type { SessionEngine } from './session-engine.js';

/** An engine that this worker can load. Its code is imported only when it is made: a worker waits without it. */
export interface EngineEntry {
  /** Devices it can use, as in `Device.device_id`. */
  readonly devices: readonly string[];
  make(): Promise<SessionEngine>;
}

/** By the name that `StageSettings.engine` gives. */
export const engines: ReadonlyMap<string, EngineEntry> = new Map([
  [
    'fixture',
    {
      devices: ['cpu'],
      make: async () => {
        const { SessionEngine } = await import('./session-engine.js');
        const { loadFixtureLayers } = await import('./fixture/load-fixture-layers.js');
        return new SessionEngine(loadFixtureLayers);
      },
    },
  ],
]);
