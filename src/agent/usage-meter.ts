import type { Device } from '../../gen/stageplane/v1/node.js';
import type { DeviceUsage } from '../../gen/stageplane/v1/node_agent_service.js';
import type { HeldStageState } from '../core/machine/agent/state.js';
import { CPU_DEVICE } from './inventory.js';
import { freeMemory } from './machine-memory.js';
import { nvidiaGpus } from './nvidia-gpus.js';
import { residentMemory } from './resident-memory.js';

/** What each device has free and what our own workers hold of it, for a heartbeat. */
export class UsageMeter {
  #gpus: readonly Device[] = [];
  #asking = false;

  /** @param devices as last described; a machine without GPUs never asks for them again */
  describe(devices: readonly Device[]): void {
    this.#gpus = devices.filter(({ deviceId }) => deviceId !== CPU_DEVICE);
  }

  /** @param pids process ids of live workers, by stage */
  measure(stages: ReadonlyMap<string, HeldStageState>, pids: ReadonlyMap<string, number>): DeviceUsage[] {
    // A driver may take seconds: the heartbeat goes out with the last answer, and the next one has a newer.
    if (this.#gpus.length > 0) void this.#askGpus();
    const live = [...pids].map(([name, pid]) => ({ pid, stage: stages.get(name) }));
    const hostBytes = live.map(({ pid, stage }) => residentMemory(pid) ?? stage?.footprint?.hostBytes ?? 0n);
    const onDevice = (id: string) =>
      live.map(({ stage }) => (stage?.delivery.settings?.device === id ? (stage.footprint?.deviceBytes ?? 0n) : 0n));
    return [
      { deviceId: CPU_DEVICE, freeBytes: freeMemory(), residentBytes: sum(hostBytes) },
      // A GPU's driver need not say who holds what; the worker measured it when it had loaded.
      ...this.#gpus.map(({ deviceId, freeBytes }) => ({ deviceId, freeBytes, residentBytes: sum(onDevice(deviceId)) })),
    ];
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

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
