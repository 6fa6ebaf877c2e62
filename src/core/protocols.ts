/** The protocol that this version speaks on an agent's session (`Hello.protocol_min`, `protocol_max`). */
export const AGENT_PROTOCOL = 1;

/** The protocol that this version speaks on the lines between agent and worker (`WorkerHello.protocol`). */
export const WORKER_PROTOCOL = 1;
