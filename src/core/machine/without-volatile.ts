import type { RunState } from './state.js';

/** What of a run survives a restart (I11). */
export function withoutVolatile(run: RunState): RunState {
  return {
    ...run,
    volatile: {},
    stages: run.stages.map((stage) => ({ ...stage, volatile: {} })),
    remnants: run.remnants.map((remnant) => ({ ...remnant, stage: { ...remnant.stage, volatile: {} } })),
  };
}
