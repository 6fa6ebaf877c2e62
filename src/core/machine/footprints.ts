import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { StageFootprint } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../limits.js';
import { footprintKey } from '../model/footprint-key.js';
import type { Ledger } from '../model/stage-footprint.js';
import type { Draft } from './draft.js';
import type { RunState, StageState } from './state.js';

/** What earlier stages with the same settings held, as the planner's memory model asks for it. */
export function ledgerOf(draft: Draft): (settings: StageSettings) => Ledger {
  return (settings) => {
    const key = footprintKey(settings);
    return (start, end) => {
      const known = draft.footprint(key(start, end));
      return known && { deviceBytes: Number(known.deviceBytes) };
    };
  };
}

/**
 * Keeps what a stage measured when it had loaded. The newest measurement replaces the one before: it is of the engine
 * and driver that the nodes have now, while the largest would keep for ever what an older build once needed. One that is
 * too small for the next stage is corrected by that stage's own.
 */
export function noteFootprint(draft: Draft, run: RunState, stage: StageState, { deviceBytes }: StageFootprint): void {
  const settings = run.settings[stage.index];
  const layers = run.plan.stages[stage.index];
  // Without a digest nobody knows which model it was; 0 is an engine that does not measure, and an absurd number a lie.
  if (!settings?.modelDigest || !layers || deviceBytes === 0n || deviceBytes > limits.storedInteger) return;
  const key = footprintKey(settings)(layers.layerStart, layers.layerEndExclusive);
  draft.putFootprint({ key, deviceBytes, revision: run.revision });
}
