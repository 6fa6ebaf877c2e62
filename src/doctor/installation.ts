import { toldBuilds } from '../agent/told-builds.js';
import { ownWorker } from '../agent/worker-program.js';
import { AGENT_PROTOCOL, WORKER_PROTOCOL } from '../core/protocols.js';
import { migrations } from '../store/sqlite/migrations.js';
import { version } from '../version.js';
import { OBJECT_VERSION } from '../worker/edge/object-record.js';
import { type EngineList, engineList } from '../worker/engine/engines.js';

export type EngineHere =
  /** `build` is absent when it cannot be told, such as for a library that does not load. */
  | { readonly name: string; readonly offered: true; readonly build?: string }
  | { readonly name: string; readonly offered: false; readonly reason: string };

/** Everything by which two installations may differ. */
export interface Installation {
  readonly version: string;
  /** The protobuf package that launchers and agents speak. */
  readonly wire: string;
  readonly agentProtocol: number;
  readonly workerProtocol: number;
  readonly edgeRecord: string;
  /** Version of the orchestrator's database, which it upgrades by itself. */
  readonly storeSchema: number;
  readonly engines: readonly EngineHere[];
  readonly node: string;
  readonly platform: string;
}

/** Loads no native code into this process, and none at all where only engines without it are offered. */
export async function installation(): Promise<Installation> {
  return {
    version,
    wire: 'stageplane.v1',
    agentProtocol: AGENT_PROTOCOL,
    workerProtocol: WORKER_PROTOCOL,
    edgeRecord: `MO01 version ${OBJECT_VERSION}`,
    storeSchema: migrations.length,
    engines: await enginesHere(engineList),
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  };
}

export async function enginesHere(
  { offered, absent }: EngineList,
  tell = () => toldBuilds(ownWorker()),
): Promise<EngineHere[]> {
  const isNative = [...offered.values()].some((engine) => engine.isNative);
  const told = isNative ? await tell() : {};
  const here = [...offered].map(async ([name, engine]): Promise<EngineHere> => {
    const build = engine.isNative ? told[name] : await engine.build();
    return { name, offered: true, ...(build !== undefined && { build }) };
  });
  const missing = [...absent].map(([name, reason]): EngineHere => ({ name, offered: false, reason }));
  return [...(await Promise.all(here)), ...missing];
}
