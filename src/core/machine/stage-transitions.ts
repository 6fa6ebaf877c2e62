/** Where a stage is, as the orchestrator sees it, in rank order. */
export const stagePhases = [
  'PENDING',
  'SENT',
  'ACCEPTED',
  'LOADING',
  'READY',
  'FAULTED',
  'STOPPING',
  'LOST',
  'STOPPED',
] as const;
export type StagePhase = (typeof stagePhases)[number];

/** What may move a stage. Past tense: it has happened already. */
export type StageTrigger =
  | 'delivery-sent'
  | 'delivery-acked'
  | 'delivery-refused'
  | 'bytes-loaded'
  | 'stage-ready'
  | 'stage-faulted'
  | 'worker-missing'
  | 'deadline-elapsed'
  | 'teardown-begun'
  | 'grace-elapsed'
  | 'stage-stopped'
  | 'absence-confirmed'
  | 'node-fenced';

interface StageTransition {
  readonly from: readonly StagePhase[];
  readonly on: StageTrigger;
  readonly to: StagePhase;
  readonly owner: 'agent' | 'orchestrator';
}

const SENT_TO_READY = ['SENT', 'ACCEPTED', 'LOADING', 'READY'] as const satisfies readonly StagePhase[];

/** Who may move a stage from one phase to the next, and on what. Ranks only grow (I2); nothing else decides phases. */
export const stageTransitions = [
  { from: ['PENDING'], on: 'delivery-sent', to: 'SENT', owner: 'orchestrator' },
  // PENDING too: after a restored backup an agent may hold what the store believes unsent.
  {
    from: ['PENDING', 'SENT'],
    on: 'delivery-acked',
    to: 'ACCEPTED',
    owner: 'agent',
  },
  {
    from: ['SENT', 'ACCEPTED'],
    on: 'bytes-loaded',
    to: 'LOADING',
    owner: 'agent',
  },
  {
    from: ['SENT', 'ACCEPTED', 'LOADING'],
    on: 'stage-ready',
    to: 'READY',
    owner: 'agent',
  },
  { from: ['SENT'], on: 'delivery-refused', to: 'FAULTED', owner: 'agent' },
  { from: SENT_TO_READY, on: 'stage-faulted', to: 'FAULTED', owner: 'agent' },
  {
    from: ['ACCEPTED', 'LOADING', 'READY'],
    on: 'worker-missing',
    to: 'FAULTED',
    owner: 'orchestrator',
  },
  {
    from: ['SENT', 'ACCEPTED', 'LOADING'],
    on: 'deadline-elapsed',
    to: 'FAULTED',
    owner: 'orchestrator',
  },
  // Torn down before anything was sent: no agent will ever report it.
  {
    from: ['PENDING'],
    on: 'teardown-begun',
    to: 'STOPPED',
    owner: 'orchestrator',
  },
  {
    from: [...SENT_TO_READY, 'FAULTED'],
    on: 'teardown-begun',
    to: 'STOPPING',
    owner: 'orchestrator',
  },
  {
    from: [...SENT_TO_READY, 'FAULTED', 'STOPPING'],
    on: 'grace-elapsed',
    to: 'LOST',
    owner: 'orchestrator',
  },
  {
    from: ['STOPPING', 'LOST'],
    on: 'stage-stopped',
    to: 'STOPPED',
    owner: 'agent',
  },
  {
    from: ['STOPPING', 'LOST'],
    on: 'absence-confirmed',
    to: 'STOPPED',
    owner: 'orchestrator',
  },
  { from: ['LOST'], on: 'node-fenced', to: 'STOPPED', owner: 'orchestrator' },
] as const satisfies readonly StageTransition[];

const table = new Map<string, StagePhase>(
  stageTransitions.flatMap((row) => row.from.map((from) => [`${from} ${row.on}`, row.to] as const)),
);

/** The phase that follows, or undefined when the trigger means nothing there: a late message changes nothing (I6). */
export function nextStagePhase(from: StagePhase, on: StageTrigger): StagePhase | undefined {
  return table.get(`${from} ${on}`);
}

/** Position in the rank order; higher never becomes lower (I2). */
export function stageRank(phase: StagePhase): number {
  return stagePhases.indexOf(phase);
}
