import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import type { RingDefaults } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { completeRing, defaultActivationRing, defaultTokenRing } from '../planner/default-rings.js';
import { tokenRingFloor } from '../planner/edge-specs.js';

/** Bytes of the rings at both ends of a stage. */
export interface EdgeRings {
  readonly activation: number;
  readonly token: number;
}

/** The rings of a run as the planner will make them: what was asked for, or its defaults, and room for the longest prompt. */
export function edgeRings(facts: ModelFacts, settings: StageSettings, asked?: RingDefaults): EdgeRings {
  const activation = completeRing(asked?.activation, defaultActivationRing(facts, settings));
  const token = completeRing(asked?.token, defaultTokenRing(settings));
  const floor = tokenRingFloor(settings.contextLength);
  return {
    activation: Number(activation.dataCapacity),
    token: Math.max(Number(token.dataCapacity), Number(floor)),
  };
}
