import { stageName } from '../../src/core/machine/agent/state.js';
import type { RunState, StageKey, World } from '../../src/core/machine/state.js';
import type { Machine } from './machine.js';
import type { Simulation } from './simulation.js';
import type { Worker } from './worker.js';

/** Holds what the orchestrator believes of workers against those that there are (I3, I6, I18). */
export class WorkerChecker {
  readonly #joinedAt = new Map<string, number>();

  constructor(private readonly sim: Simulation) {}

  joined({ name }: Machine): void {
    this.#joinedAt.set(name, this.sim.time.now);
  }

  /** A status comes from the stage's own node, and what counts as stopped is (I3, I6, I18). */
  checkStatuses(world: World, lastRuns: ReadonlyMap<bigint, RunState>): void {
    const { sim } = this;
    for (const run of world.runs.values()) {
      const before = lastRuns.get(run.runId);
      if (before?.revision === run.revision) continue;
      this.#checkRemnants(world, before, run);
      for (const stage of run.stages) {
        const was = before?.stages[stage.index]?.phase;
        if (before?.generation === run.generation && was === stage.phase) continue;
        const machine = sim.machineOf(world.nodes.get(stage.nodeId));
        if (!machine?.isTrusted) continue;
        const key = { runId: run.runId, stageIndex: stage.index, generation: run.generation };
        if (stage.phase === 'READY' && !sim.truth.wasReady(key, machine.name))
          sim.violated('I6', `${stageName(key)} is READY and no worker on ${machine.name} ever was`);
        // A node that is fenced while it sleeps stops its workers when it wakes.
        if (stage.phase === 'STOPPED' && was !== undefined && !this.#mayOutliveLease(machine)) {
          this.#checkGone(machine, key);
        }
      }
    }
  }

  /** What was LOST with its generation is forgotten when nothing of it lives. */
  #checkRemnants(world: World, before: RunState | undefined, run: RunState): void {
    for (const { generation, stage } of before?.remnants ?? []) {
      const isKept = run.remnants.some((kept) => kept.generation === generation && kept.stage.index === stage.index);
      const machine = this.sim.machineOf(world.nodes.get(stage.nodeId));
      if (isKept || !machine?.isTrusted || this.#mayOutliveLease(machine)) continue;
      this.sim.hit('remnant settled');
      this.#checkGone(machine, { runId: run.runId, stageIndex: stage.index, generation });
    }
  }

  #checkGone(machine: Machine, key: StageKey): void {
    for (const worker of machine.workers) {
      if (worker.isAlive && stageName(worker.key) === stageName(key))
        this.sim.violated('I3', `${stageName(key)} counts as STOPPED and its worker lives on ${machine.name}`);
    }
  }

  #mayOutliveLease(machine: Machine): boolean {
    return machine.sleptAt > this.sim.time.now - 2 * this.sim.timings.lease;
  }

  /** At most one live worker per stage and generation (I3). */
  starts(machine: Machine, worker: Worker): void {
    const { sim } = this;
    const { runId: id, stageIndex, generation } = worker.key;
    for (const live of sim.truth.workers()) {
      const { key } = live.worker;
      if (key.runId !== id || key.stageIndex !== stageIndex || live.worker === worker) continue;
      if (!live.machine.isTrusted || !machine.isTrusted) continue;
      const where = `${live.machine.name} and ${machine.name}`;
      if (key.generation === generation)
        sim.violated('I3', `stage ${stageIndex} of run ${id} g${generation} runs twice, on ${where}`);
    }
  }

  /** When a generation begins, one before it lives on at most where nobody can reach it (I3). */
  generationBegins({ runId: id, generation }: RunState): void {
    const { sim } = this;
    for (const { machine, worker } of sim.truth.workers()) {
      const { key } = worker;
      if (key.runId !== id || key.generation >= generation || !machine.isTrusted) continue;
      const isJoined = machine.agent?.state.contact.kind === 'joined' && sim.contactOf(machine)?.session !== undefined;
      const isCutOff = machine.scope.isPaused || machine.wire.isBlocked('up') || machine.wire.isBlocked('down');
      const isBackFor = sim.time.now - (this.#joinedAt.get(machine.name) ?? 0);
      // It has the time of a stop to end what it held; an older one may come to light at any later time.
      if (!isJoined || isCutOff || isBackFor > sim.timings.stop) continue;
      sim.violated('I3', `run ${id} begins g${generation} beside ${stageName(key)}, which lives on ${machine.name}`);
    }
  }
}
