import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { type NodeId, revision } from '../../src/core/ids.js';
import type { ClusterEvent, RunRequest } from '../../src/core/machine/events.js';
import type { Contact, NodeState, StageKey } from '../../src/core/machine/state.js';
import { defaultTimings, type Timings } from '../../src/core/machine/timings.js';
import { AgentProcess } from './agent-process.js';
import { Checker } from './checker.js';
import { Counters } from './counters.js';
import { DataPlane } from './data-plane.js';
import type { FaultyAgent } from './faulty-agent.js';
import { Machine } from './machine.js';
import { type Action, drawActions, perform, wake } from './nemesis.js';
import { OrchestratorProcess } from './orchestrator-process.js';
import { Random } from './random.js';
import { whyUnsettled } from './settled.js';
import { StoreModel } from './store-model.js';
import { Truth } from './truth.js';
import { VirtualTime } from './virtual-time.js';
import { RunWatcher, Watcher } from './watcher.js';

const GIB = 1024 ** 3;

/** How likely things go wrong by themselves, per process; all 0 once everything works again. */
export interface Faults {
  workers: number;
  models: number;
  endpoints: number;
}

export interface SimulationOptions {
  readonly seed: number;
  /** Instead of all that the seed draws. */
  readonly actions?: readonly Action[] | undefined;
  readonly transcript?: boolean | undefined;
}

export interface Violation {
  readonly invariant: string;
  readonly message: string;
  readonly step: number;
  readonly at: number;
}

export interface SimulationResult {
  readonly violation: Violation | undefined;
  readonly actions: readonly Action[];
  readonly counters: Counters;
  readonly steps: number;
  readonly transcript: readonly string[];
}

/** Stops a simulation at its first violation, wherever in the product it comes up. */
class Violated extends Error {}

/** One seed's world: a safety phase with all faults, then everything heals and must settle. */
export class Simulation {
  readonly random: Random;
  readonly nemesisRandom: Random;
  readonly time: VirtualTime;
  readonly timings: Timings;
  readonly faults: Faults;
  readonly store: StoreModel;
  readonly machines: Machine[] = [];
  readonly truth = new Truth(this.machines);
  readonly dataPlane = new DataPlane();
  readonly counters = new Counters();
  readonly orchestrator: OrchestratorProcess;
  readonly checker: Checker;
  readonly clones: FaultyAgent[] = [];
  readonly requests: RunRequest[] = [];
  readonly requestOfCall = new Map<number, string>();
  readonly watchers: Watcher[] = [];
  /** Runs that were asked for. */
  created = 0;
  /** The last commit took hold, and the process that made it does not know. */
  commitIsUnknown = false;
  steps = 0;
  violation: Violation | undefined;
  readonly #lines: string[] = [];
  readonly #actions: readonly Action[];
  readonly #safetyMillis: number;

  constructor(private readonly options: SimulationOptions) {
    this.random = new Random(`${options.seed}`);
    this.nemesisRandom = this.random.fork('nemesis');
    this.time = new VirtualTime(this.random.fork('ties'));
    const { random } = this;
    this.timings = drawTimings(random);
    const rough = random.chance(0.7);
    this.faults = {
      workers: rough ? random.next() * 0.2 : 0,
      models: rough ? random.next() * 0.05 : 0,
      endpoints: rough ? random.next() * 0.15 : 0,
    };
    this.store = new StoreModel('cluster-a', (fault) => {
      this.hit(`commit ${fault}`);
      this.trace(() => `commit: ${fault}`);
      if (fault === 'answer-lost') this.commitIsUnknown = true;
      if (fault === 'killed-after') this.orchestrator.kill();
    });
    this.checker = new Checker(this);
    this.orchestrator = new OrchestratorProcess(this);
    const count = random.chance(0.2) ? random.int(10, 12) : 1 + Math.floor(random.next() ** 1.5 * 6);
    for (let index = 0; index < count; index++) {
      const memory = BigInt(Math.floor((0.8 + random.next() * 3) * GIB));
      this.machines.push(new Machine(this, index, memory, random.fork(`machine ${index}`)));
    }
    this.#safetyMillis = random.int(40_000, 200_000);
    const drawn = drawActions(this.nemesisRandom.fork('actions'), random.int(5, 45), this.#safetyMillis);
    this.#actions = options.actions ?? drawn;
  }

  run(): SimulationResult {
    try {
      this.orchestrator.start();
      this.#follow(new Watcher(this, this.random.fork('watcher of all events')));
      for (const machine of this.machines) this.time.after(this.random.int(0, 3000), () => this.startAgent(machine));
      for (const action of this.#actions) this.time.at(action.at, () => perform(this, action));
      this.#until(this.#safetyMillis);
      this.#heal();
      this.#settle();
      this.#endAllRuns();
      this.#settle();
      this.#compareWatchers();
    } catch (error) {
      if (!(error instanceof Violated)) this.#note('defect', (error as Error).stack ?? String(error));
    }
    const { violation, counters, steps } = this;
    return { violation, actions: this.#actions, counters, steps, transcript: this.#lines };
  }

  hit(name: string): void {
    this.counters.hit(name);
  }

  trace(line: () => string): void {
    if (this.options.transcript) this.#lines.push(`${(this.time.now / 1000).toFixed(3).padStart(9)}  ${line()}`);
  }

  violated(invariant: string, message: string): never {
    this.#note(invariant, message);
    throw new Violated(message);
  }

  request(make: (call: number) => ClusterEvent, requestId?: string): void {
    this.orchestrator.request((call) => {
      if (requestId !== undefined) this.requestOfCall.set(call, requestId);
      return make(call);
    });
  }

  nodeIds(): NodeId[] {
    return [...(this.orchestrator.world?.nodes.keys() ?? [])];
  }

  startAgent(machine: Machine): void {
    if (machine.agent || machine.faulty || !machine.isOn) return;
    machine.agent = new AgentProcess(machine);
  }

  /** By itself. Once faults have ended, somebody looks after it. */
  agentEnded(machine: Machine): void {
    if (this.#isHealed) this.time.after(1000, () => this.#restartAgent(machine));
  }

  machineOf(node: NodeState | undefined): Machine | undefined {
    return node && this.machines.find(({ disk }) => disk.instanceId === node.instanceId);
  }

  contactOf({ disk }: Machine): Contact | undefined {
    return this.orchestrator.world?.contacts.get(disk.nodeId as NodeId);
  }

  /** Stages of live runs that belong to other nodes. */
  liveKeysNotOn(nodeId: bigint): StageKey[] {
    const keys: StageKey[] = [];
    for (const { runId, generation, stages } of this.orchestrator.world?.runs.values() ?? []) {
      for (const stage of stages) {
        if (stage.nodeId !== nodeId && stage.phase !== 'STOPPED')
          keys.push({ runId, stageIndex: stage.index, generation });
      }
    }
    return keys.slice(0, 8);
  }

  #note(invariant: string, message: string): void {
    this.violation ??= { invariant, message, step: this.steps, at: this.time.now };
  }

  #until(moment: number): void {
    while (this.time.step(moment)) this.#afterStep();
  }

  #afterStep(): void {
    this.steps += 1;
    // The product may have swallowed what was thrown.
    if (this.violation) throw new Violated(this.violation.message);
    if (this.steps > 400_000) this.violated('I16', 'more than 400000 steps: something goes round and round');
    const { world } = this.orchestrator;
    if (!world || world.cluster.nextRunId === this.#watched) return;
    for (const id of world.runs.keys()) {
      if (id < this.#watched || this.watchers.length > 12) continue;
      this.#follow(new RunWatcher(id, this, this.random.fork(`watcher ${id}`)));
    }
    this.#watched = world.cluster.nextRunId;
  }

  #follow(watcher: Watcher): void {
    this.watchers.push(watcher);
    watcher.watch();
  }
  #watched: bigint = revision(0n);
  #isHealed = false;

  /** Faults stop: every machine that comes back is honest, and the network and the disk do their part. */
  #heal(): void {
    this.trace(() => '--- everything heals');
    this.#isHealed = true;
    Object.assign(this.faults, { workers: 0, models: 0, endpoints: 0 });
    this.store.heal();
    this.orchestrator.killAfterSends(Number.POSITIVE_INFINITY);
    this.orchestrator.wake();
    this.orchestrator.start();
    for (const clone of this.clones) clone.end();
    const gone = this.random.chance(0.25) ? this.random.pick(this.machines) : undefined;
    for (const machine of this.machines) {
      machine.diskIsBroken = false;
      machine.faulty?.end();
      machine.faulty = undefined;
      wake(this, machine);
      if (machine === gone) {
        machine.isGone = true;
        if (this.random.chance(0.4)) machine.powerOff();
        else machine.wire.block('up', 'down');
        continue;
      }
      machine.wire.open();
      machine.powerOn();
      this.#restartAgent(machine);
    }
  }

  #restartAgent(machine: Machine): void {
    const isStranger = this.#nameIsTaken(machine);
    if (machine.agent && !isStranger && !machine.agent.session.isStopped) return;
    machine.agent?.kill();
    // Renamed by its operator, since its old self has the name.
    if (isStranger) machine.wipe(true);
    this.startAgent(machine);
  }

  #nameIsTaken({ name, disk }: Machine): boolean {
    return [...this.store.load().nodes].some((node) => node.name === name && node.instanceId !== disk.instanceId);
  }

  /** Liveness: within a bounded time nothing is left that still has to happen (I17 to I20). */
  #settle(): void {
    const { timings, time } = this;
    const patience =
      timings.graceAfterStart + timings.lease * 1.2 + timings.load + timings.edges + timings.stop + 300_000;
    const deadline = time.now + patience;
    let why = whyUnsettled(this);
    while (why) {
      if (time.now >= deadline)
        this.violated(why.invariant, `${why.what}, ${patience / 1000} s after all faults ended`);
      this.#until(time.now + 1000);
      why = whyUnsettled(this);
    }
  }

  #endAllRuns(): void {
    for (const run of this.orchestrator.world?.runs.values() ?? []) {
      if (run.phase === 'RUNNING' && run.mode === RunMode.RUN_MODE_SERVING)
        this.request((call) => ({ kind: 'run-stop-requested', call, runId: run.runId }));
    }
    this.#until(this.time.now + 1000);
  }

  #compareWatchers(): void {
    for (const watcher of this.watchers) watcher.compare();
  }
}

/** Mostly the defaults, shortened so that a lease ends within a run; a lease of less would not outlast its margins. */
function drawTimings(random: Random): Timings {
  return {
    ...defaultTimings,
    heartbeat: random.pick([5_000, 7_000, 10_000]),
    lease: random.pick([100_000, 100_000, 150_000]),
    grace: random.pick([15_000, 30_000]),
    graceAfterStart: random.pick([30_000, 60_000]),
    acknowledge: 10_000,
    load: random.pick([20_000, 60_000]),
    edges: random.pick([15_000, 30_000]),
    stop: random.pick([10_000, 30_000]),
  };
}
