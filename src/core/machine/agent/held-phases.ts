import { HeldStagePhase } from '../../../../gen/stageplane/v1/node_agent_service.js';

/** Where a held stage is, as its agent sees it, in rank order (I2). */
export const heldPhases = ['PREPARING', 'READY', 'EXECUTING', 'FAULTED', 'STOPPING', 'STOPPED'] as const;
export type HeldPhase = (typeof heldPhases)[number];

/** What may move a held stage. Past tense: it has happened already. */
export type HeldTrigger =
  | 'worker-ready'
  | 'step-begun'
  | 'step-ended'
  | 'worker-faulted'
  | 'stop-begun'
  | 'worker-reaped';

interface HeldTransition {
  readonly from: readonly HeldPhase[];
  readonly on: HeldTrigger;
  readonly to: HeldPhase;
}

/** Ranks only grow (I2), but for READY and EXECUTING, which take turns while the stage serves. */
export const heldTransitions = [
  { from: ['PREPARING'], on: 'worker-ready', to: 'READY' },
  { from: ['READY'], on: 'step-begun', to: 'EXECUTING' },
  { from: ['EXECUTING'], on: 'step-ended', to: 'READY' },
  { from: ['PREPARING', 'READY', 'EXECUTING'], on: 'worker-faulted', to: 'FAULTED' },
  { from: ['PREPARING', 'READY', 'EXECUTING', 'FAULTED'], on: 'stop-begun', to: 'STOPPING' },
  // Only here: `stopped` is said when no process is left (I3).
  { from: ['STOPPING'], on: 'worker-reaped', to: 'STOPPED' },
] as const satisfies readonly HeldTransition[];

const table = new Map<string, HeldPhase>(
  heldTransitions.flatMap((row) => row.from.map((from) => [`${from} ${row.on}`, row.to] as const)),
);

/** The phase that follows, or undefined when the trigger means nothing there. */
export function nextHeldPhase(from: HeldPhase, on: HeldTrigger): HeldPhase | undefined {
  return table.get(`${from} ${on}`);
}

/** The wire's number for a phase: the names are the same, so the compiler checks the mapping. */
export const wireHeldPhase = (phase: HeldPhase): HeldStagePhase => HeldStagePhase[`HELD_STAGE_PHASE_${phase}`];
