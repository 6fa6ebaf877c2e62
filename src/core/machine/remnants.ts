import type { Draft } from './draft.js';
import { nextStagePhase, type StageTrigger } from './stage-transitions.js';
import type { Remnant, RunState, StageKey, StageVolatile } from './state.js';
import { wireStagePhase } from './wire-names.js';

/** What a generation that ends leaves behind: stages of which nobody knows whether they still live (I3, I7). */
export function remnantsOf({ generation, stages, settings, remnants }: RunState): readonly Remnant[] {
  const lost = stages.filter(({ phase }) => phase === 'LOST');
  if (lost.length === 0) return remnants;
  return [...remnants, ...lost.map((stage) => ({ generation, stage, settings: settings[stage.index]! }))];
}

export function findRemnant(draft: Draft, key: StageKey): Remnant | undefined {
  return draft.run(key.runId)?.remnants.find((remnant) => isNamed(remnant, key));
}

/** No worker is left of it: what it reserved is free. False when there is none, or the trigger means nothing to it. */
export function settleRemnant(draft: Draft, key: StageKey, trigger: StageTrigger): boolean {
  const run = draft.run(key.runId);
  const found = findRemnant(draft, key);
  const phase = found && nextStagePhase(found.stage.phase, trigger);
  if (!run || !found || !phase) return false;
  const { stageIndex, generation } = key;
  const value = { stageIndex, nodeId: found.stage.nodeId, phase: wireStagePhase(phase), footprint: undefined };
  const revision = draft.record({ runId: run.runId, generation }, { $case: 'stagePhase', value });
  draft.putRun({ ...run, remnants: run.remnants.filter((remnant) => remnant !== found), revision });
  return true;
}

/** In memory only, so nothing of it is a commit. */
export function patchRemnant(draft: Draft, key: StageKey, patch: Partial<StageVolatile>): void {
  const run = draft.run(key.runId);
  if (!run) return;
  const remnants = run.remnants.map((remnant) => {
    if (!isNamed(remnant, key)) return remnant;
    return { ...remnant, stage: { ...remnant.stage, volatile: { ...remnant.stage.volatile, ...patch } } };
  });
  draft.putRun({ ...run, remnants });
}

export function remnantKey({ runId }: RunState, { generation, stage }: Remnant): StageKey {
  return { runId, stageIndex: stage.index, generation };
}

function isNamed({ generation, stage }: Remnant, key: StageKey): boolean {
  return generation === key.generation && stage.index === key.stageIndex;
}
