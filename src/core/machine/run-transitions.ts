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
  | 'attempt-failed'
  | 'attempts-spent'
  | 'planned-again'
  | 'generation-completed'
  | 'every-stage-settled';

interface RunTransition {
  readonly from: readonly RunPhase[];
  readonly on: RunTrigger;
  readonly to: RunPhase;
  /** Outcome that the transition sets. */
  readonly outcome?: RunOutcome;
  /** Only a run whose outcome is set, or is not, moves so: an outcome is never set twice (I1). */
  readonly guard?: 'decided' | 'undecided';
}

const LIVE: readonly RunPhase[] = ['PROVISIONING', 'WAITING_READY', 'RUNNING'];

/** Every way a run moves; the orchestrator owns them all. Ranks, which are (generation, phase), only grow (I2). */
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
  { from: ['TEARING_DOWN'], on: 'every-stage-settled', to: 'DONE', guard: 'decided' },
  // A fault with attempts left decides nothing yet: the run begins again as its next generation, unless it is stopped or
  // finds no place any more.
  { from: LIVE, on: 'attempt-failed', to: 'TEARING_DOWN' },
  { from: ['TEARING_DOWN'], on: 'planned-again', to: 'PROVISIONING', guard: 'undecided' },
  { from: ['TEARING_DOWN'], on: 'stop-requested', to: 'TEARING_DOWN', outcome: 'STOPPED', guard: 'undecided' },
  { from: ['TEARING_DOWN'], on: 'attempts-spent', to: 'TEARING_DOWN', outcome: 'FAULTED', guard: 'undecided' },
] as const satisfies readonly RunTransition[];

const table = new Map<string, RunTransition>(
  runTransitions.flatMap((row) => row.from.map((from) => [`${from} ${row.on}`, row] as const)),
);

/** The transition that applies to a run, or undefined when the trigger means nothing there. */
export function findRunTransition(
  { phase, outcome }: { readonly phase: RunPhase; readonly outcome?: RunOutcome | undefined },
  on: RunTrigger,
): RunTransition | undefined {
  const transition = table.get(`${phase} ${on}`);
  const required = transition?.guard;
  if (required !== undefined && required !== (outcome === undefined ? 'undecided' : 'decided')) return undefined;
  return transition;
}

/** Whether stages may still become ready. */
export function isLive(phase: RunPhase): boolean {
  return LIVE.includes(phase);
}
