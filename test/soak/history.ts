import { type RunEvent, RunOutcome, RunPhase, StagePhase } from '../../gen/stageplane/v1/run.js';
import type { StageKey } from '../../src/core/machine/state.js';

const { STAGE_PHASE_READY, STAGE_PHASE_LOST, STAGE_PHASE_STOPPED } = StagePhase;

/** What one run's whole history shows, held against the invariants that can be seen in it. */
export interface HistoryReport {
  readonly problems: readonly string[];
  /** Stages that were READY at some time: each must have had a worker. */
  readonly ready: readonly StageKey[];
  readonly outcome: RunOutcome;
  readonly generations: number;
}

/** Reads a run's events from the first to the one that made it DONE. */
export function readHistory(events: readonly RunEvent[]): HistoryReport {
  const history = new History();
  for (const event of events) history.take(event);
  return history.end();
}

class History {
  readonly #problems: string[] = [];
  readonly #ready: StageKey[] = [];
  #revision = 0n;
  #generation = 1;
  #phase = RunPhase.RUN_PHASE_UNSPECIFIED;
  #outcome = RunOutcome.RUN_OUTCOME_UNSPECIFIED;
  /** By generation, then by stage. */
  readonly #stages = new Map<number, Map<number, StagePhase>>();

  take(event: RunEvent): void {
    this.#check('I12', event.revision > this.#revision, `revision ${event.revision} follows ${this.#revision}`);
    this.#revision = event.revision;
    if (event.detail?.$case === 'runPhase') this.#runMoved(event, event.detail.value);
    if (event.detail?.$case === 'stagePhase') this.#stageMoved(event, event.detail.value);
  }

  end(): HistoryReport {
    this.#check('I17', this.#phase === RunPhase.RUN_PHASE_DONE, `it ends ${RunPhase[this.#phase]}`);
    this.#check('I1', this.#outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED, 'it is DONE without an outcome');
    return {
      problems: this.#problems,
      ready: this.#ready,
      outcome: this.#outcome,
      generations: this.#generation,
    };
  }

  #runMoved({ generation }: RunEvent, { phase, outcome }: { phase: RunPhase; outcome: RunOutcome }): void {
    const isNext = generation === this.#generation + 1;
    this.#check('I2', isNext || generation === this.#generation, `generation ${generation} after ${this.#generation}`);
    if (isNext) this.#settled(this.#generation);
    else this.#check('I2', phase >= this.#phase, `${RunPhase[phase]} after ${RunPhase[this.#phase]}`);
    const isDecided = this.#outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED;
    this.#check('I1', !isDecided || outcome === this.#outcome, `outcome ${outcome} after ${this.#outcome}`);
    this.#check('I1', !isNext || !isDecided, 'it begins again with an outcome');
    this.#generation = generation;
    this.#phase = phase;
    this.#outcome = outcome;
    if (phase === RunPhase.RUN_PHASE_DONE) this.#settled(generation);
    if (phase === RunPhase.RUN_PHASE_RUNNING) this.#gang(generation);
  }

  #stageMoved({ runId, generation }: RunEvent, { stageIndex, phase }: { stageIndex: number; phase: StagePhase }): void {
    const stages = this.#stages.get(generation) ?? new Map<number, StagePhase>();
    this.#stages.set(generation, stages);
    const before = stages.get(stageIndex) ?? StagePhase.STAGE_PHASE_UNSPECIFIED;
    this.#check('I2', phase > before, `stage ${stageIndex} is ${StagePhase[phase]} after ${StagePhase[before]}`);
    stages.set(stageIndex, phase);
    if (phase === STAGE_PHASE_READY) this.#ready.push({ runId, stageIndex, generation } as StageKey);
  }

  #gang(generation: number): void {
    for (const [index, phase] of this.#stages.get(generation) ?? [])
      this.#check('I8', phase === STAGE_PHASE_READY, `it is RUNNING with stage ${index} ${StagePhase[phase]}`);
  }

  #settled(generation: number): void {
    for (const [index, phase] of this.#stages.get(generation) ?? []) {
      const isSettled = phase === STAGE_PHASE_STOPPED || phase === STAGE_PHASE_LOST;
      this.#check('I17', isSettled, `generation ${generation} ended with stage ${index} ${StagePhase[phase]}`);
    }
  }

  #check(invariant: string, holds: boolean, what: string): void {
    if (!holds) this.#problems.push(`${invariant}: ${what}`);
  }
}
