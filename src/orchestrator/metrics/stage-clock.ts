import { StagePhase } from '../../../gen/stageplane/v1/run.js';
import type { RunId } from '../../core/ids.js';

interface RunTimes {
  readonly generation: number;
  readonly begun: number;
  /** By stage index. */
  readonly phases: StagePhase[];
  readonly since: number[];
}

/** How long stages stay in their phases, by what this process has seen of them: a stage that was there before it is not measured until it moves. */
export class StageClock {
  private readonly runs = new Map<RunId, RunTimes>();

  /** @param left seconds that a stage was in a phase which it has left */
  constructor(private readonly left: (phase: StagePhase, seconds: number) => void) {}

  /** A generation begins: its stages are PENDING. @param seconds now */
  begin(runId: RunId, generation: number, seconds: number): void {
    this.runs.set(runId, { generation, begun: seconds, phases: [], since: [] });
  }

  move(runId: RunId, generation: number, stageIndex: number, phase: StagePhase, seconds: number): void {
    const run = this.runs.get(runId);
    if (run?.generation !== generation) return;
    this.left(run.phases[stageIndex] ?? StagePhase.STAGE_PHASE_PENDING, seconds - (run.since[stageIndex] ?? run.begun));
    run.phases[stageIndex] = phase;
    run.since[stageIndex] = seconds;
  }

  /** Seconds since the generation began; undefined when this process has not seen that. */
  age(runId: RunId, generation: number, seconds: number): number | undefined {
    const run = this.runs.get(runId);
    return run?.generation === generation ? seconds - run.begun : undefined;
  }

  end(runId: RunId): void {
    this.runs.delete(runId);
  }
}
