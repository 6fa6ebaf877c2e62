import type { EngineList } from './engines.js';
import type { LoadLayers } from './stage-layers.js';

/** An engine of one's own, as `runStageWorker` takes it. */
export interface OwnEngine {
  /** What `StageSettings.engine` calls it, and what the node offers; at most 64 characters. */
  readonly name: string;
  /** Loads the layers of one stage. Called once in a process, in a thread that may be ended at any moment. */
  readonly load: LoadLayers;
  /** The devices that it can use, as in `Device.device_id`; without it every device of the node, `cpu` among them. */
  readonly devices?: readonly string[];
}

/** The list of a worker that has this one engine. Its build is told by the files of the worker. */
export function listOwnEngine({ name, load, devices }: OwnEngine): EngineList {
  const build = async () => undefined;
  const make = async () => {
    const { SessionEngine } = await import('./session-engine.js');
    return new SessionEngine(load);
  };
  return { offered: new Map([[name, { devices, isNative: false, build, make }]]), absent: new Map() };
}
