import type { RunId } from '../../src/core/ids.js';
import type { Draft } from '../../src/core/machine/draft.js';
import type { Remnant, RunState, World } from '../../src/core/machine/state.js';
import type { Simulation } from './simulation.js';

interface Reservation {
  readonly runId: RunId;
  readonly generation: number;
  readonly nodeId: bigint;
  readonly bytes: bigint;
}

/** The book of what was promised, kept apart from the product's own sums (I7). */
export class Reservations {
  readonly #held = new Map<string, Reservation>();
  readonly #released = new Set<string>();
  #runs: ReadonlyMap<bigint, RunState> = new Map();
  /** Nothing was promised before: a store that is older than this book was put back. */
  #isEmpty = true;

  constructor(private readonly sim: Simulation) {}

  /** @param turn absent after a restart: a commit whose answer was lost brings what no turn has shown */
  observe(world: World, turn?: Draft): void {
    // A run that is deleted was DONE and has released everything, be it in the same turn.
    for (const [name, { runId }] of this.#held) if (!world.runs.has(runId)) this.#held.delete(name);
    for (const run of world.runs.values()) {
      if (this.#runs.get(run.runId)?.revision !== run.revision) this.#follow(world, run, turn);
    }
    this.#runs = new Map(world.runs);
    this.#isEmpty = false;
  }

  #follow(world: World, run: RunState, turn: Draft | undefined): void {
    let isNew = false;
    if (this.#isEmpty) for (const remnant of run.remnants) this.#holdRemnant(run.runId, remnant);
    this.#releaseOlder(run, turn);
    for (const stage of run.stages) {
      const name = `${run.runId}/${stage.index}/${run.generation}`;
      if (stage.phase === 'STOPPED') {
        if (this.#held.delete(name)) this.#released.add(name);
        continue;
      }
      if (this.#released.has(name)) this.sim.violated('I7', `the reservation of ${name} is released and taken again`);
      if (this.#held.has(name)) continue;
      isNew = true;
      const { runId, generation, settings } = run;
      const bytes = settings[stage.index]?.reservedBytes ?? 0n;
      this.#held.set(name, { runId, generation, nodeId: stage.nodeId, bytes });
    }
    if (isNew) for (const id of new Set(run.stages.map(({ nodeId }) => nodeId))) this.#checkBudget(world, id);
  }

  #holdRemnant(runId: RunId, { generation, stage, settings }: Remnant): void {
    const { index, nodeId } = stage;
    this.#held.set(`${runId}/${index}/${generation}`, { runId, generation, nodeId, bytes: settings.reservedBytes });
  }

  /** Of an earlier generation only what is LOST is still promised. */
  #releaseOlder(run: RunState, turn: Draft | undefined): void {
    const kept = new Set(run.remnants.map(({ generation, stage }) => `${run.runId}/${stage.index}/${generation}`));
    for (const [name, { runId, generation }] of this.#held) {
      if (runId !== run.runId || generation === run.generation || kept.has(name)) continue;
      this.#held.delete(name);
      this.#released.add(name);
      const stops = turn?.events.some(
        (event) => event.runId === runId && event.generation === generation && event.detail?.$case === 'stagePhase',
      );
      if (turn && !stops) this.sim.violated('I7', `${name} is forgotten with its generation, and nobody saw it stop`);
    }
    for (const name of kept)
      if (!this.#held.has(name)) this.sim.violated('I7', `${name} is a remnant, and its reservation was released`);
  }

  /** At the commit of a run no device is promised more than it has. */
  #checkBudget(world: World, nodeId: bigint): void {
    const node = world.nodes.get(nodeId as never);
    // A second process with its identity may have said that it has more.
    if (!this.sim.machineOf(node)?.isTrusted) return;
    const total = node?.descriptor.devices[0]?.totalBytes ?? 0n;
    let promised = 0n;
    for (const held of this.#held.values()) if (held.nodeId === nodeId) promised += held.bytes;
    if (promised > total) this.sim.violated('I7', `node ${nodeId} has ${total} bytes and ${promised} are promised`);
  }
}
