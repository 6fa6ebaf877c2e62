import type { Identity } from '../../src/core/machine/agent/state.js';
import type { AgentProcess } from './agent-process.js';
import type { FaultyAgent } from './faulty-agent.js';
import type { Random } from './random.js';
import { Scope } from './scope.js';
import type { Simulation } from './simulation.js';
import { Wire } from './wire.js';
import type { Worker } from './worker.js';

/** One computer of the pool: its clock, its disk, its wire, and the processes on it. */
export class Machine {
  readonly wire: Wire;
  readonly workers = new Set<Worker>();
  /** What the agent's data folder holds: written before it is acted on, and there after a crash. */
  disk: Identity;
  diskIsBroken = false;
  agent: AgentProcess | undefined;
  faulty: FaultyAgent | undefined;
  scope: Scope;
  isOn = true;
  /** Never comes back, not even when everything heals: its power or its network. */
  isGone = false;
  /**
   * False once something happened there that no protocol can see through, such as a second process with a copy of its
   * disk: what really runs there is not held against the orchestrator any more.
   */
  isTrusted = true;
  /** The agent alone was frozen or the machine slept: its lease ends when it wakes. */
  sleptAt = Number.NEGATIVE_INFINITY;
  /** Stages that its agent takes at once. */
  readonly maxStages: number;
  processes = 0;
  streams = 0;
  #name: string;
  #wipes = 0;
  readonly #skew: { origin: number; rate: number };

  constructor(
    readonly sim: Simulation,
    readonly index: number,
    readonly memoryBytes: bigint,
    readonly random: Random,
  ) {
    this.#name = `node-${String.fromCharCode(97 + index)}`;
    this.#skew = { origin: random.int(1000, 10_000_000), rate: 1 + (random.next() - 0.5) / 50 };
    this.scope = new Scope(sim.time, this.#skew);
    const slow = random.chance(0.15);
    this.wire = new Wire(sim.time, random.fork('wire'), { least: 0.2, most: slow ? 2500 : 60 });
    this.maxStages = random.chance(0.2) ? 1 : 8;
    this.disk = this.#newDisk();
  }

  get name(): string {
    return this.#name;
  }

  get freeBytes(): bigint {
    let free = this.memoryBytes;
    for (const worker of this.workers) free -= worker.residentBytes;
    return free > 0n ? free : 0n;
  }

  /** @returns undefined when it is on disk; otherwise why it is not */
  save(identity: Identity): string | undefined {
    if (this.diskIsBroken) {
      this.sim.hit('identity could not be written');
      return 'the disk is broken';
    }
    this.disk = identity;
    return undefined;
  }

  /** The data folder is gone: whoever starts here next is somebody new, and the old name is taken. */
  wipe(rename: boolean): void {
    this.#wipes += 1;
    this.disk = this.#newDisk();
    if (rename) this.#name = `node-${String.fromCharCode(97 + this.index)}-${this.#wipes}`;
  }

  workerEnded(worker: Worker): void {
    this.workers.delete(worker);
  }

  powerOff(): void {
    if (!this.isOn) return;
    this.isOn = false;
    this.agent = undefined;
    this.faulty = undefined;
    this.scope.kill();
    for (const worker of this.workers) worker.vanish();
    this.workers.clear();
    // Nobody is left to say that the connection is gone.
    for (const stream of [...this.wire.streams]) {
      stream.break({ agent: 0, orchestrator: this.random.int(20_000, 30_000) });
    }
  }

  powerOn(): void {
    if (this.isOn) return;
    this.isOn = true;
    this.scope = new Scope(this.sim.time, this.#skew);
  }

  #newDisk(): Identity {
    const instanceId = `instance-${this.index}-${this.#wipes}`;
    return { instanceId, clusterId: '', nodeId: 0n, highestEpoch: 0n };
  }
}
