import type { Device } from '../../gen/stageplane/v1/node.js';
import type { DeviceUsage } from '../../gen/stageplane/v1/node_agent_service.js';
import type { HeldStageState } from '../core/machine/agent/state.js';
import { CPU_DEVICE } from './inventory.js';
import { freeMemory } from './machine-memory.js';
import { nvidiaGpus } from './nvidia-gpus.js';
import { residentMemory } from './resident-memory.js';

/** Memory at one moment, for a heartbeat. */
export interface MeasuredMemory {
  readonly devices: DeviceUsage[];
  /** Bytes that each live worker holds on its stage's device, by stage; what nobody can say is missing. */
  readonly residentBytes: ReadonlyMap<string, bigint>;
}

/** What each device has free and what our own workers hold of it. */
export class UsageMeter {
  #gpus: readonly Device[] = [];
  #asking = false;

  /** @param memory bytes of RAM that stages may use; default: all */
  constructor(readonly memory?: bigint) {}

  /** @param devices as last described; a machine without GPUs never asks for them again */
  describe(devices: readonly Device[]): void {
    this.#gpus = devices.filter(({ deviceId }) => deviceId !== CPU_DEVICE);
  }

  /** @param pids process ids of live workers, by stage */
  measure(stages: ReadonlyMap<string, HeldStageState>, pids: ReadonlyMap<string, number>): MeasuredMemory {
    // A driver may take seconds: the heartbeat goes out with the last answer, and the next one has a newer.
    if (this.#gpus.length > 0) void this.#askGpus();
    const workers = [...pids].map(([name, pid]) => measureWorker(name, pid, stages.get(name)));
    const heldOn = (id: string) => sum(workers.map(({ device, onDevice = 0n }) => (device === id ? onDevice : 0n)));
    const inRam = sum(workers.map((worker) => worker.inRam ?? 0n));
    const left = this.memory === undefined ? undefined : Number(this.memory - inRam);
    return {
      devices: [
        { deviceId: CPU_DEVICE, freeBytes: freeMemory(left), residentBytes: inRam },
        ...this.#gpus.map(({ deviceId, freeBytes }) => ({ deviceId, freeBytes, residentBytes: heldOn(deviceId) })),
      ],
      residentBytes: new Map(
        workers.flatMap(({ name, onDevice }) => (onDevice === undefined ? [] : [[name, onDevice]])),
      ),
    };
  }

  async #askGpus(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const gpus = await nvidiaGpus();
    this.#asking = false;
    // No answer is not the same as no GPU.
    if (gpus.length > 0) this.#gpus = gpus;
  }
}

/** A worker takes RAM wherever its stage is; on a GPU its stage takes what is there. */
function measureWorker(name: string, pid: number, stage: HeldStageState | undefined) {
  const device = stage?.delivery.settings?.device;
  const inRam = residentMemory(pid) ?? stage?.footprint?.hostBytes;
  // A GPU's driver need not say who holds what; the worker measured it when it had loaded.
  return { name, device, inRam, onDevice: device === CPU_DEVICE ? inRam : stage?.footprint?.deviceBytes };
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
