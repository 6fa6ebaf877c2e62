import type { StageFeature } from '../../gen/stageplane/v1/node.js';

/** The protocol that this version speaks on an agent's session (`Hello.protocol_min`, `protocol_max`). */
export const AGENT_PROTOCOL = 1;

/** The protocol that this version speaks on the lines between agent and worker (`WorkerHello.protocol`). */
export const WORKER_PROTOCOL = 1;

/** What stages of this version's worker can do beyond what those of every worker can (`WorkerHello.features`). */
export const STAGE_FEATURES = ['STAGE_FEATURE_SAMPLING'] as const satisfies (keyof typeof StageFeature)[];
