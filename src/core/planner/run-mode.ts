import { type PlanRequest, RunMode } from '../../../gen/stageplane/v1/planner.js';

/** What the run is for: as asked, else one answer for a prompt, or serving without one. Undefined: ONE_SHOT of nothing. */
export function runModeOf({ mode, runtime }: PlanRequest): RunMode | undefined {
  const hasPrompt = (runtime?.prompt?.source?.value ?? '') !== '';
  if (mode === RunMode.RUN_MODE_ONE_SHOT && !hasPrompt) return undefined;
  if (mode !== RunMode.RUN_MODE_UNSPECIFIED) return mode;
  return hasPrompt ? RunMode.RUN_MODE_ONE_SHOT : RunMode.RUN_MODE_SERVING;
}
