/** A mistake that somebody could make, as a change of one place in the source. */
export interface Bug {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Exactly once in the file. */
  readonly replace: string;
  readonly by: string;
  /** Any of these may notice it first. */
  readonly caughtBy: readonly string[];
}

const machine = (name: string) => `src/core/machine/${name}.ts`;
const agent = (name: string) => `src/core/machine/agent/${name}.ts`;

export const bugs: readonly Bug[] = [
  {
    name: 'sends before it commits',
    file: 'src/orchestrator/loop.ts',
    replace: 'if (changes) this.commit(changes, draft);',
    by: 'this.performer.perform(draft); if (changes) this.commit(changes, draft);',
    caughtBy: ['I4'],
  },
  {
    name: 'goes on with a turn whose commit failed',
    file: 'src/orchestrator/loop.ts',
    replace: '      return taken.length;\n    }\n    draft',
    by: '    }\n    draft',
    caughtBy: ['I4', 'I11'],
  },
  {
    name: 'forgets that it was away',
    file: 'src/orchestrator/loop.ts',
    replace: "this.postFirst({ kind: 'loop-stalled' });",
    by: '',
    caughtBy: ['I20'],
  },
  {
    name: 'begins again under the same epoch',
    file: 'src/orchestrator/open-loop.ts',
    replace: 'epoch: stored.epoch + 1n }',
    by: 'epoch: stored.epoch || 1n }',
    caughtBy: ['I5'],
  },
  {
    name: 'counts revisions from an older one after a start',
    file: 'src/orchestrator/open-loop.ts',
    replace: 'return { ...stored, epoch',
    by: 'return { ...stored, revision: (stored.revision / 2n) as typeof stored.revision, epoch',
    caughtBy: ['I12', 'I11', 'I10'],
  },
  {
    name: 'tells watchers the first event of a turn alone',
    file: 'src/orchestrator/performer.ts',
    replace: 'outside.hub.publish(turn.events,',
    by: 'outside.hub.publish(turn.events.slice(0, 1),',
    caughtBy: ['I10'],
  },
  {
    name: 'takes a report of any generation',
    file: machine('run-lifecycle'),
    replace: ' || run.generation !== key.generation',
    by: '',
    caughtBy: ['I6', 'I16', 'I3'],
  },
  {
    name: 'takes a report of any node',
    file: machine('agent-messages'),
    replace: 'if (stage?.nodeId === state.nodeId) takeReport',
    by: 'if (stage) takeReport',
    caughtBy: ['I6', 'I3'],
  },
  {
    name: 'acknowledges that a lost stage has stopped and does not take it in',
    file: machine('reconcile'),
    replace: "if (phase === 'STOPPED' || phase === undefined) {",
    by: "if (phase === 'STOPPED' || phase === 'LOST' || phase === undefined) {",
    caughtBy: ['I4'],
  },
  {
    name: 'does not stop what no run knows',
    file: machine('reconcile'),
    replace: "sendStop(draft, session, key, 'no run needs this stage');",
    by: '{}',
    caughtBy: ['I18', 'I19'],
  },
  {
    name: 'promises again what a stage holds that is only being stopped',
    file: machine('pool'),
    replace: "stage.nodeId === nodeId && stage.phase !== 'STOPPED'",
    by: "stage.nodeId === nodeId && stage.phase !== 'STOPPED' && stage.phase !== 'STOPPING' && stage.phase !== 'LOST'",
    caughtBy: ['I7'],
  },
  {
    name: 'places stages on a cordoned node',
    file: machine('pool'),
    replace: 'if (node.cordoned) {',
    by: 'if (node.cordoned && contact === undefined) {',
    caughtBy: ['I14'],
  },
  {
    name: 'goes live with one stage ready',
    file: machine('run-lifecycle'),
    replace: "run.stages.every((stage) => stage.phase === 'READY')",
    by: "run.stages.some((stage) => stage.phase === 'READY')",
    caughtBy: ['I8'],
  },
  {
    name: 'lets a stop overwrite how a run ended',
    file: machine('run-transitions'),
    replace: "outcome: 'STOPPED', guard: 'undecided' }",
    by: "outcome: 'STOPPED' }",
    caughtBy: ['I1', 'I18'],
  },
  {
    name: 'makes another run of the same request',
    file: machine('create-run'),
    replace: "  if (known) return { kind: 'run', runId: known.runId };\n",
    by: '',
    caughtBy: ['I9', 'I15'],
  },
  {
    name: 'lets a second process take a node over',
    file: machine('session-lifecycle'),
    replace: 'if (draft.now - contact.lastHeard > 2 * draft.rules.timings.heartbeat) return undefined;',
    by: 'return undefined;',
    caughtBy: ['I3'],
  },
  {
    name: 'acts under an epoch that its agents have left behind',
    file: machine('session-lifecycle'),
    replace: 'if (epoch === undefined) return;',
    by: 'if (epoch === undefined || epoch > 0n) return;',
    caughtBy: ['I5'],
  },
  {
    name: 'sends a stop once, whatever became of the stream',
    file: machine('dispatch'),
    replace: 'stage.volatile.stoppedIn !== session',
    by: 'stage.volatile.stoppedIn === undefined',
    caughtBy: ['I17', 'I20'],
  },
  {
    name: 'leaves the token endpoint open',
    file: machine('run-lifecycle'),
    replace: "  draft.perform({ kind: 'close-token-endpoint', runId, generation, reason: whyTornDown(run) });\n",
    by: '  void [runId, generation, whyTornDown];\n',
    caughtBy: ['I18'],
  },
  {
    name: 'forgets what a lost generation still holds',
    file: machine('remnants'),
    replace: "const lost = stages.filter(({ phase }) => phase === 'LOST');",
    by: "const lost = stages.filter(({ phase }) => phase === 'LOST' && generation < 0);",
    caughtBy: ['I7', 'I3', 'I11'],
  },
  {
    name: 'begins a generation beside a stage that a node which is back still ends',
    file: machine('begin-again'),
    replace: 'if (isEndingStill(draft, run)) return',
    by: 'if (isEndingStill(draft, run) && run.generation < 0) return',
    caughtBy: ['I3'],
  },
  {
    name: 'places a run that begins again on a node that is drained',
    file: machine('pool'),
    replace: 'if (node.drainUntil !== undefined) {',
    by: 'if (node.drainUntil !== undefined && contact === undefined) {',
    caughtBy: ['I14'],
  },
  {
    name: 'takes no prompts of a run any more whose node is uncordoned before it moved',
    file: machine('operator-requests'),
    replace: 'if (drainUntil === undefined) endDrain(draft, nodeId);',
    by: '',
    caughtBy: ['I17'],
  },
  {
    name: 'ends a drain when the wall clock is set ahead',
    file: machine('drain'),
    replace: 'export function advanceDrain(draft: Draft, id: NodeId): void {\n  followWallClock(draft);',
    by: 'export function advanceDrain(draft: Draft, id: NodeId): void {',
    caughtBy: ['I17'],
  },
  {
    name: 'goes on from a backup as if nothing had come after it',
    file: 'src/orchestrator/open-loop.ts',
    replace: 'store.isBackup ?',
    by: 'store.isBackup && stored.cluster.epoch === 0n ?',
    caughtBy: ['I3', 'I5', 'I10', 'I12'],
  },
  {
    name: 'tells those who watch all runs of the first event of a turn alone',
    file: 'src/orchestrator/watch-hub.ts',
    replace: 'listener(events, revision);',
    by: 'listener(events.slice(0, 1), revision);',
    caughtBy: ['I10'],
  },
  {
    name: 'agent: says stopped before its worker is gone',
    file: agent('stage-lifecycle'),
    replace: "if (stage.worker !== 'alive') settle(turn, stopping);",
    by: 'settle(turn, stopping); if (stage.worker !== "alive") return;',
    caughtBy: ['I3'],
  },
  {
    name: 'agent: keeps what it still prepares out of its inventory',
    file: agent('inventory'),
    replace: 'return [...state.stages.values()].map(',
    by: "return [...state.stages.values()].filter((stage) => stage.phase !== 'PREPARING').map(",
    caughtBy: ['I3', 'I18'],
  },
  {
    name: 'agent: goes on without a lease',
    file: agent('lease'),
    replace: 'if (!lease || lease.ttl === 0 ||',
    by: 'if (!lease || lease.ttl > 0 ||',
    caughtBy: ['I3'],
  },
  {
    name: 'agent: forgets a report that was sent',
    file: agent('reports'),
    replace: 'if (turn.stage(key) || turn.state.reports.size < limits.strayReports) {',
    by: 'if (!turn.stage(key) && turn.state.reports.size < limits.strayReports) {',
    caughtBy: ['I17', 'I19', 'I20'],
  },
  {
    name: 'agent: obeys an epoch that its disk does not know',
    file: 'src/agent/agent-loop.ts',
    replace: 'const problem = newest && this.options.persist(newest);',
    by: 'const problem: string | undefined = undefined; if (newest) this.options.persist(newest);',
    caughtBy: ['I5', 'I19'],
  },
];
