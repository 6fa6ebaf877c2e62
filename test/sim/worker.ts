import { LoadProgress_Phase, type StageFault, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { WorkerListener } from '../../src/agent/worker-process.js';
import { limits } from '../../src/core/limits.js';
import { stageName } from '../../src/core/machine/agent/state.js';
import type { StageKey } from '../../src/core/machine/state.js';
import { WORKER_PROTOCOL } from '../../src/core/protocols.js';
import type { EdgeEnd } from './data-plane.js';
import type { Machine } from './machine.js';
import type { Random } from './random.js';
import { Scope } from './scope.js';

/** What a worker is to do with its life; drawn when it starts. */
interface Character {
  readonly loads: 'well' | 'fails' | 'stalls' | 'never-greets';
  readonly obeysStop: boolean;
  /** Milliseconds from SIGKILL to the end: one that hangs in a driver takes its time. */
  readonly deathMillis: number;
}

/** A stage worker's process on its machine. It may outlive its agent, whose end closes its stdin, for a bounded time. */
export class Worker implements EdgeEnd {
  readonly scope: Scope;
  /** Its agent is gone: nobody reaps it, and it ends by itself (I18). */
  isOrphan = false;
  isAlive = true;
  isReady = false;
  isLoaded = false;
  #isConnected = false;
  #wasKilled = false;
  #isStopping = false;
  readonly #character: Character;
  readonly #tenths: bigint;

  constructor(
    readonly key: StageKey,
    readonly stageCount: number,
    readonly reservedBytes: bigint,
    private readonly machine: Machine,
    private readonly listener: WorkerListener,
    private readonly random: Random,
  ) {
    this.scope = new Scope(machine.sim.time, { origin: 0, rate: 1 }, machine.scope);
    this.#character = this.#draw();
    this.#tenths = BigInt(random.int(7, 12));
    if (this.#character.loads !== 'never-greets') {
      this.scope.after(random.skewed(20, 1500), () =>
        listener.greeted({ protocol: WORKER_PROTOCOL, engines: ['fixture'], features: [] }),
      );
    } else {
      this.scope.after(30_000, () => this.#fail());
    }
  }

  /** Bytes that it holds of its device. Estimates err in both directions. */
  get residentBytes(): bigint {
    return this.isLoaded ? (this.reservedBytes * this.#tenths) / 10n : 0n;
  }

  prepare(): void {
    this.machine.sim.dataPlane.put(this.key, this);
    const steps = this.random.int(1, 5);
    this.#load(1, steps);
  }

  /** The stop command; SIGKILL is the supervisor's. */
  stop(): void {
    this.#isStopping = true;
    if (!this.#character.obeysStop) {
      this.machine.sim.hit('worker ignored its stop');
      return;
    }
    this.scope.after(this.random.skewed(5, 3000), () => this.#end(0, null));
  }

  kill(): void {
    this.#wasKilled = true;
    this.#isStopping = true;
    this.scope.after(this.#character.deathMillis, () => this.#end(null, 'SIGKILL'));
  }

  /** Its agent died: stdin closes. */
  orphan(): void {
    this.isOrphan = true;
    this.scope.after(this.random.skewed(5, limits.workerEndMillis), () => this.#end(0, null));
  }

  /** It ends by itself, with the code of a crash. */
  crash(): void {
    this.#end(139, null);
  }

  /** The engine hangs in a step. */
  hang(): void {
    if (this.isReady) this.scope.after(0, () => this.listener.healthy(70_000n, undefined));
  }

  edgesChanged(): void {
    if (!this.isLoaded || this.isReady || this.#isStopping) return;
    if (!this.machine.sim.dataPlane.isConnected(this.key, this.stageCount)) return;
    this.isReady = true;
    this.#isConnected = true;
    this.machine.sim.truth.becameReady(this.key, this.machine.name);
    const deviceBytes = this.residentBytes;
    this.scope.after(this.random.skewed(1, 200), () => {
      this.listener.ready({ bytesRead: 1n, bytesDigest: '', deviceBytes, hostBytes: 0n });
      this.listener.healthy(this.random.chance(0.3) ? 50n : 0n, { heldSessions: 1, heldTokens: 4n });
    });
  }

  /** Token edges may be opened again by another endpoint; an activation edge may not. */
  neighbourLost(): void {
    if (!this.#isConnected || this.#isStopping || !this.isAlive) return;
    this.scope.after(this.random.skewed(5, 400), () => this.#fault(StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED));
  }

  #load(step: number, steps: number): void {
    const { loads } = this.#character;
    if (loads === 'stalls' && step === 2) return;
    if (loads === 'fails' && step === steps) {
      return this.#fault(
        this.random.chance(0.5)
          ? StageFaultReason.STAGE_FAULT_REASON_OUT_OF_MEMORY
          : StageFaultReason.STAGE_FAULT_REASON_LOAD_FAILED,
      );
    }
    const progress = (phase: LoadProgress_Phase) => ({ phase, bytesDone: BigInt(step), bytesTotal: BigInt(steps) });
    this.listener.loading(progress(LoadProgress_Phase.PHASE_BYTES));
    this.scope.after(this.random.skewed(50, 4000), () => {
      if (this.#isStopping) return;
      if (step < steps) return this.#load(step + 1, steps);
      this.isLoaded = true;
      this.listener.loading(progress(LoadProgress_Phase.PHASE_WAITING_EDGES));
      this.edgesChanged();
      this.machine.sim.dataPlane.tellChanged(this.key);
    });
  }

  #fault(reason: StageFaultReason): void {
    if (!this.isAlive) return;
    const fault: StageFault = { reason, message: `the worker says ${StageFaultReason[reason]}`, logTail: [] };
    this.listener.faulted(fault);
  }

  #fail(): void {
    if (!this.isAlive) return;
    this.listener.failed({ kind: 'hello-missing', waited: 30_000 }, []);
    this.kill();
  }

  #end(code: number | null, signal: string | null): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.machine.workerEnded(this);
    this.machine.sim.trace(() => `${this.machine.name}: worker of ${stageName(this.key)} ended ${code ?? signal}`);
    const { dataPlane } = this.machine.sim;
    dataPlane.remove(this.key, this);
    if (this.#isConnected) dataPlane.tellLost(this.key, this.stageCount);
    this.scope.after(this.random.skewed(1, 60), () =>
      this.listener.exited({ code, signal, wasKilled: this.#wasKilled }, []),
    );
  }

  /** The machine lost its power: nothing is said to anybody. */
  vanish(): void {
    this.isAlive = false;
    this.scope.kill();
    const { dataPlane } = this.machine.sim;
    dataPlane.remove(this.key, this);
    if (this.#isConnected) dataPlane.tellLost(this.key, this.stageCount);
  }

  #draw(): Character {
    const { random } = this;
    const bad = this.machine.sim.faults.workers;
    const loads = random.chance(bad) ? random.pick(['fails', 'stalls', 'never-greets'] as const) : 'well';
    return {
      loads,
      obeysStop: !random.chance(bad),
      deathMillis: random.chance(bad) ? random.int(200, 2000) : random.int(1, 50),
    };
  }
}
