import { cpus, hostname } from 'node:os';
import {
  type Device,
  DeviceKind,
  type EngineOffer,
  type NodeDescriptor,
  StageFeature,
} from '../../gen/stageplane/v1/node.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';
import { STAGE_FEATURES } from '../core/protocols.js';
import { freeMemory, totalMemory } from './machine-memory.js';
import { nvidiaGpus } from './nvidia-gpus.js';
import { physicalCores } from './physical-cores.js';

/** Engines of our own worker: they compute in RAM alone. */
const cpuOnly: ReadonlySet<string> = new Set(['fixture', 'llama.cpp']);

/** RAM as a device. */
export const CPU_DEVICE = 'cpu';

/** Measures what this machine has. Never fails: what cannot be found out is left out or 0. `memory` is RAM for stages. */
export async function describeMachine(
  agentVersion: string,
  labels: Readonly<Record<string, string>>,
  memory?: bigint,
): Promise<NodeDescriptor> {
  const [cores, gpus] = await Promise.all([physicalCores(), nvidiaGpus()]);
  return {
    machine: clipText(hostname(), limits.stringBytes),
    operatingSystem: process.platform,
    architecture: process.arch,
    physicalCores: cores,
    agentVersion,
    devices: [memoryDevice(memory), ...gpus].slice(0, limits.devicesPerNode),
    labels: { ...labels },
  };
}

/**
 * What the engines of a worker can use here. Of an engine that this agent does not know, the worker itself refuses a
 * device that it cannot use. `builds` are those of its engines, by name; `features` as it said.
 */
export function offerEngines(
  builds: ReadonlyMap<string, string>,
  devices: readonly Device[],
  features: readonly StageFeature[],
): EngineOffer[] {
  // A later worker's may be strange to the orchestrator too, which would refuse the whole Hello.
  const known = STAGE_FEATURES.map((name) => StageFeature[name]).filter((feature) => features.includes(feature));
  const all = devices.map(({ deviceId }) => deviceId);
  return [...builds]
    .slice(0, limits.devicesPerNode)
    .map(([name, build]) => ({ name, build, deviceIds: cpuOnly.has(name) ? [CPU_DEVICE] : all, features: known }));
}

function memoryDevice(memory: bigint | undefined): Device {
  const ours = memory === undefined ? undefined : Number(memory);
  return {
    deviceId: CPU_DEVICE,
    kind: DeviceKind.DEVICE_KIND_CPU,
    name: cpus()[0]?.model.trim() ?? '',
    totalBytes: totalMemory(ours),
    freeBytes: freeMemory(ours),
  };
}
