import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import type { RingDefaults } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { defaultActivationRing } from '../planner/default-rings.js';
import { tokenRingFloor } from '../planner/edge-specs.js';

/** Bytes of the rings at both ends of a stage. */
export interface EdgeRings {
  readonly activation: number;
  readonly token: number;
}

/** The rings of a run as the planner will make them: what was asked for, or room for one micro-batch and one prompt. */
export function edgeRings(facts: ModelFacts, settings: StageSettings, asked?: RingDefaults): EdgeRings {
  const activation = asked?.activation ?? defaultActivationRing(facts, settings.microBatch);
  const floor = tokenRingFloor(settings.contextLength);
  return {
    activation: Number(activation.dataCapacity),
    token: Math.max(Number(asked?.token?.dataCapacity ?? 0n), Number(floor)),
  };
}
