import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { NodeId } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import type { RunState, World } from '../../src/core/machine/state.js';
import type { Simulation } from './simulation.js';

/** No drain ends a run before the time that its operator gave it, whatever the wall clock was set to meanwhile. */
export class DrainChecker {
  readonly #asked = new Map<number, { nodeId: NodeId; deadline: number }>();
  readonly #soonest = new Map<NodeId, number>();
  /** Of this turn: which came first in it, the new time or the end of the old one, is not known. */
  readonly #newSoonest = new Map<NodeId, number>();

  constructor(private readonly sim: Simulation) {}

  asked(call: number, nodeId: NodeId, deadline: number): void {
    this.#asked.set(call, { nodeId, deadline });
  }

  answered(call: number): void {
    const drain = this.#asked.get(call);
    this.#asked.delete(call);
    if (drain) this.#newSoonest.set(drain.nodeId, this.sim.time.now + drain.deadline);
  }

  clockIsSet(): void {
    if (!this.sim.orchestrator.world) this.forget();
  }

  /**
   * A clock that is set while nobody looks cannot be told from time that passes.
   *
   * @param ahead milliseconds that the wall clock shows beyond the process's own
   */
  orchestratorEnds({ wallAhead }: World, ahead: number): void {
    for (const { nodeId } of this.#asked.values()) this.#soonest.delete(nodeId);
    this.#asked.clear();
    if (wallAhead === undefined || Math.abs(ahead - wallAhead) >= limits.wallJumpMillis) this.forget();
  }

  forget(): void {
    this.#soonest.clear();
  }

  /** @param before as the turn before left it */
  check(before: RunState | undefined, { runId, cause }: RunState): void {
    const isNew = before && !before.cause && cause?.fault.reason === StageFaultReason.STAGE_FAULT_REASON_NODE_DRAINED;
    if (!isNew || cause?.component !== 'orchestrator' || cause.nodeId === undefined) return;
    const mayMove = before.mode === RunMode.RUN_MODE_SERVING && before.restart?.basis !== undefined;
    const soonest = [this.#soonest, this.#newSoonest].flatMap((times) => times.get(cause.nodeId!) ?? []);
    const early = soonest.length === 0 ? 0 : Math.min(...soonest) - this.sim.time.now;
    if (mayMove) return;
    this.sim.hit('drain ended at its deadline');
    if (early > 1) this.sim.violated('I17', `a drain ends run ${runId} ${early} ms before its deadline`);
  }

  turnOver(): void {
    for (const [nodeId, soonest] of this.#newSoonest) this.#soonest.set(nodeId, soonest);
    this.#newSoonest.clear();
  }
}
