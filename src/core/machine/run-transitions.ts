/** Where a run is, in rank order within a generation. */
export const runPhases = ['PROVISIONING', 'WAITING_READY', 'RUNNING', 'TEARING_DOWN', 'DONE'] as const;
export type RunPhase = (typeof runPhases)[number];

/** How a run ended: set once, on entering TEARING_DOWN (I1). */
export type RunOutcome = 'COMPLETED' | 'FAULTED' | 'STOPPED';

/** What may move a run. Past tense: it has happened already. */
export type RunTrigger =
  | 'every-stage-acknowledged'
  | 'barrier-passed'
  | 'stop-requested'
  | 'fault-observed'
  | 'generation-completed'
  | 'every-stage-settled';

interface RunTransition {
  readonly from: readonly RunPhase[];
  readonly on: RunTrigger;
  readonly to: RunPhase;
  /** Outcome that the transition sets. */
  readonly outcome?: RunOutcome;
}

const LIVE: readonly RunPhase[] = ['PROVISIONING', 'WAITING_READY', 'RUNNING'];

/** Every way a run moves; the orchestrator owns them all. Ranks only grow (I2). */
export const runTransitions = [
  {
    from: ['PROVISIONING'],
    on: 'every-stage-acknowledged',
    to: 'WAITING_READY',
  },
  // The barrier: every stage and the token endpoint are ready (I8).
  { from: ['WAITING_READY'], on: 'barrier-passed', to: 'RUNNING' },
  { from: LIVE, on: 'stop-requested', to: 'TEARING_DOWN', outcome: 'STOPPED' },
  { from: LIVE, on: 'fault-observed', to: 'TEARING_DOWN', outcome: 'FAULTED' },
  {
    from: ['RUNNING'],
    on: 'generation-completed',
    to: 'TEARING_DOWN',
    outcome: 'COMPLETED',
  },
  { from: ['TEARING_DOWN'], on: 'every-stage-settled', to: 'DONE' },
] as const satisfies readonly RunTransition[];

const table = new Map<string, RunTransition>(
  runTransitions.flatMap((row) => row.from.map((from) => [`${from} ${row.on}`, row] as const)),
);

/** The transition that applies, or undefined when the trigger means nothing there. */
export function findRunTransition(from: RunPhase, on: RunTrigger): RunTransition | undefined {
  return table.get(`${from} ${on}`);
}

/** Whether stages may still become ready. */
export function isLive(phase: RunPhase): boolean {
  return LIVE.includes(phase);
}
