import {
  RunOutcome as WireRunOutcome,
  RunPhase as WireRunPhase,
  StagePhase as WireStagePhase,
} from '../../../gen/stageplane/v1/run.js';
import type { RunOutcome, RunPhase } from './run-transitions.js';
import type { StagePhase } from './stage-transitions.js';

/** The wire's number for a phase or outcome: the names are the same, so the compiler checks the mapping. */
export const wireStagePhase = (phase: StagePhase): WireStagePhase => WireStagePhase[`STAGE_PHASE_${phase}`];
export const wireRunPhase = (phase: RunPhase): WireRunPhase => WireRunPhase[`RUN_PHASE_${phase}`];
export const wireRunOutcome = (outcome: RunOutcome | undefined): WireRunOutcome =>
  WireRunOutcome[`RUN_OUTCOME_${outcome ?? 'UNSPECIFIED'}`];
