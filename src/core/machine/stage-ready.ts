import type { StageFootprint } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../limits.js';
import type { Draft } from './draft.js';
import { noteFootprint } from './footprints.js';
import { findStage, moveStage } from './run-lifecycle.js';
import type { RunState, StageKey, StageState } from './state.js';

/** A stage has loaded. What it measured then is kept for the plans to come, and held against what this one reserved. */
export function stageReady(draft: Draft, key: StageKey, footprint: StageFootprint | undefined): void {
  if (!moveStage(draft, key, 'stage-ready', { footprint })) return;
  const found = findStage(draft, key);
  if (!found || !footprint) return;
  noteFootprint(draft, found.run, found.stage, footprint);
  compareWithReservation(draft, found.run, found.stage, footprint);
}

/** Said once, beside READY. The stage goes on: its memory is taken already, and every later budget sees that. */
function compareWithReservation(draft: Draft, run: RunState, stage: StageState, { deviceBytes }: StageFootprint): void {
  const { index: stageIndex, nodeId } = stage;
  const reservedBytes = run.settings[stageIndex]?.reservedBytes ?? 0n;
  const tolerated = reservedBytes * BigInt(1000 + limits.reservationToleranceMillis);
  if (reservedBytes === 0n || deviceBytes * 1000n <= tolerated) return;
  const value = { stageIndex, nodeId, reservedBytes, deviceBytes };
  draft.putRun({ ...run, revision: draft.record(run, { $case: 'reservationExceeded', value }) });
}
