import { stageName } from '../../src/core/machine/agent/state.js';
import type { StageKey } from '../../src/core/machine/state.js';
import type { Machine } from './machine.js';
import type { Worker } from './worker.js';

/** What is so in the simulated world, whatever anybody believes of it. */
export class Truth {
  readonly #ready = new Set<string>();

  constructor(private readonly machines: readonly Machine[]) {}

  /** A worker was ready, or a faulty agent says that one was: either way it is the node's own word. */
  becameReady(key: StageKey, machine: string): void {
    this.#ready.add(`${stageName(key)} ${machine}`);
  }

  wasReady(key: StageKey, machine: string): boolean {
    return this.#ready.has(`${stageName(key)} ${machine}`);
  }

  /** All that live, whether their agent does or not. */
  *workers(): Iterable<{ machine: Machine; worker: Worker }> {
    for (const machine of this.machines) {
      for (const worker of machine.workers) if (worker.isAlive) yield { machine, worker };
    }
  }
}
