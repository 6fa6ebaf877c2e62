import type { StageFootprint } from '../../../gen/stageplane/v1/run.js';
import type { Draft } from './draft.js';
import { noteFootprint } from './footprints.js';
import { findStage, moveStage } from './run-lifecycle.js';
import type { StageKey } from './state.js';

/** A stage has loaded. What it measured then is kept for the plans to come. */
export function stageReady(draft: Draft, key: StageKey, footprint: StageFootprint | undefined): void {
  if (!moveStage(draft, key, 'stage-ready', { footprint })) return;
  const found = findStage(draft, key);
  if (found && footprint) noteFootprint(draft, found.run, found.stage, footprint);
}
