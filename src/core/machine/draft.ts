import type { SubscribeResponse } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { LoadProgress, RunEvent } from '../../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../../gen/stageplane/v1/token_endpoint.js';
import {
  type Millis,
  type NodeId,
  type Revision,
  type RunId,
  revision,
  type SessionId,
  type WallMillis,
} from '../ids.js';
import { AccessDraft } from './access-draft.js';
import type { Changes } from './changes.js';
import type { AccessRefusal, Answer, Effect, LogFields } from './effects.js';
import type { CallId, Timer } from './events.js';
import { forgetOldRecords } from './forget-old-records.js';
import { addIgnored, noneIgnored } from './ignored-messages.js';
import { countAfter, idsOfDeleted, putLast, replaceAll, replaceNode } from './overlay.js';
import type { Rules } from './rules.js';
import type {
  ClusterState,
  Contact,
  FootprintRecord,
  NodeState,
  RequestRecord,
  RunState,
  SessionState,
  StageState,
  World,
} from './state.js';

/** One event's detail, without what the draft fills in. */
type EventDetail = NonNullable<RunEvent['detail']>;

/** How far one stage has loaded. */
export interface StageProgress {
  readonly runId: RunId;
  readonly stageIndex: number;
  readonly progress: LoadProgress;
}

/**
 * One turn's changes over a world that stays as it was: dropping the draft undoes the turn, so a failed commit
 * leaves memory and store alike (I4, I11).
 */
export class Draft {
  cluster: ClusterState;
  wallAhead: number | undefined;
  readonly effects: Effect[] = [];
  readonly events: RunEvent[] = [];
  /** Nodes that may be owed something. */
  readonly dirtyNodes: Set<NodeId>;
  /** Those of them that come later. */
  undispatched: readonly NodeId[] = [];
  /** Loading progress of this turn, for those who watch; latest wins. */
  readonly progress = new Map<string, StageProgress>();
  /** Answers of this turn: the store has them from now on, the world never. */
  readonly answers = new Map<RunId, TextAnswer>();
  readonly access: AccessDraft;
  readonly ignored = noneIgnored();

  private hasPlanned = false;
  private readonly nodes = new Map<NodeId, NodeState | undefined>();
  private readonly runs = new Map<RunId, RunState | undefined>();
  private readonly contacts = new Map<NodeId, Contact | undefined>();
  private readonly sessions = new Map<SessionId, SessionState | undefined>();
  private readonly requests = new Map<string, RequestRecord>();
  private readonly footprints = new Map<string, FootprintRecord>();
  private readonly placements = new Map<NodeId, ReadonlySet<RunId>>();

  constructor(
    private readonly base: World,
    readonly now: Millis,
    readonly wall: WallMillis,
    readonly rules: Rules,
  ) {
    this.cluster = base.cluster;
    this.wallAhead = base.wallAhead;
    this.dirtyNodes = new Set(base.undispatched);
    this.access = new AccessDraft(base);
  }

  // --- reading

  node(id: NodeId): NodeState | undefined {
    return this.nodes.has(id) ? this.nodes.get(id) : this.base.nodes.get(id);
  }

  nodeByInstance(instanceId: string): NodeState | undefined {
    for (const node of this.nodes.values()) if (node?.instanceId === instanceId) return node;
    const id = this.base.nodeByInstance.get(instanceId);
    return id === undefined ? undefined : this.node(id);
  }

  nodeByName(name: string): NodeState | undefined {
    for (const node of this.nodes.values()) if (node?.name === name) return node;
    const id = this.base.nodeByName.get(name);
    const node = id === undefined ? undefined : this.node(id);
    return node?.name === name ? node : undefined;
  }

  nodeCount(): number {
    return countAfter(this.base.nodes, this.nodes);
  }

  allNodeIds(): ReadonlySet<NodeId> {
    const ids = new Set([...this.base.nodes.keys(), ...this.nodes.keys()]);
    for (const [id, node] of this.nodes) if (node === undefined) ids.delete(id);
    return ids;
  }

  run(id: RunId): RunState | undefined {
    return this.runs.has(id) ? this.runs.get(id) : this.base.runs.get(id);
  }

  runCount(): number {
    return countAfter(this.base.runs, this.runs);
  }

  contact(id: NodeId): Contact | undefined {
    return this.contacts.has(id) ? this.contacts.get(id) : this.base.contacts.get(id);
  }

  session(id: SessionId): SessionState | undefined {
    return this.sessions.has(id) ? this.sessions.get(id) : this.base.sessions.get(id);
  }

  request(id: string): RequestRecord | undefined {
    return this.requests.get(id) ?? this.base.requests.get(id);
  }

  footprint(key: string): FootprintRecord | undefined {
    return this.footprints.get(key) ?? this.base.footprints.get(key);
  }

  allRuns(): RunState[] {
    const ids = new Set([...this.base.runs.keys(), ...this.runs.keys()]);
    return [...ids].map((id) => this.run(id)).filter((run) => run !== undefined);
  }

  /** Runs with a stage on the node that is not STOPPED, oldest first. */
  runsOn(id: NodeId): RunState[] {
    const ids = this.placements.get(id) ?? this.base.placements.get(id) ?? new Set<RunId>();
    return [...ids].map((runId) => this.run(runId)).filter((run) => run !== undefined);
  }

  // --- changing

  putNode(node: NodeState): void {
    this.nodes.set(node.nodeId, { ...node, revision: this.nextRevision() });
  }

  putRun(run: RunState): void {
    const before = this.run(run.runId);
    this.runs.set(run.runId, run);
    if (before?.stages === run.stages && before.remnants === run.remnants) return;
    const known = before?.generation === run.generation ? before : undefined;
    for (const stage of run.stages) {
      const was = known?.stages[stage.index]?.phase;
      if (was === stage.phase) continue;
      this.dirtyNodes.add(stage.nodeId);
      if (stage.phase === 'STOPPED' || was === undefined) this.reindex(stage.nodeId, run);
    }
    const left = known ? [] : (before?.stages ?? []);
    const remnants = before?.remnants === run.remnants ? [] : (before?.remnants.map(({ stage }) => stage) ?? []);
    for (const { nodeId } of [...left, ...remnants]) this.reindex(nodeId, run);
  }

  /** Puts a run of which one stage is new, without a look at all the others. */
  putStage(run: RunState, stage: StageState): void {
    const was = run.stages[stage.index]?.phase;
    const next = { ...run, stages: run.stages.with(stage.index, stage) };
    this.runs.set(run.runId, next);
    if (was === stage.phase) return;
    this.dirtyNodes.add(stage.nodeId);
    if (stage.phase === 'STOPPED') this.reindex(stage.nodeId, next);
  }

  /** The runs with a stage there must have settled it before (I7). */
  deleteNode(id: NodeId): void {
    this.nextRevision();
    this.nodes.set(id, undefined);
    this.contacts.set(id, undefined);
  }

  deleteRun(id: RunId): void {
    this.runs.set(id, undefined);
  }

  putContact(id: NodeId, contact: Contact): void {
    this.contacts.set(id, contact);
  }

  putSession(session: SessionState): void {
    this.sessions.set(session.session, session);
  }

  endSession(id: SessionId): void {
    this.sessions.set(id, undefined);
  }

  putRequest(request: RequestRecord): void {
    this.requests.set(request.requestId, request);
  }

  putFootprint(record: FootprintRecord): void {
    putLast(this.footprints, record);
  }

  perform(effect: Effect): void {
    this.effects.push(effect);
  }

  send(session: SessionId, message: NonNullable<SubscribeResponse['message']>): void {
    this.perform({ kind: 'send', session, message: { message } });
  }

  answer(call: CallId, answer: Answer): void {
    this.perform({ kind: 'answer', call, answer });
  }

  refuseAccess(call: CallId, code: AccessRefusal['code'], reason: string, message: string): void {
    this.answer(call, { kind: 'access-refused', code, reason, message });
  }

  /** Sets a timer, or sets it anew. */
  arm(timer: Timer, at: Millis): void {
    this.perform({ kind: 'arm', timer, at });
  }

  say(level: 'info' | 'warn', message: string, fields: LogFields): void {
    this.perform({ kind: 'say', level, message, fields });
  }

  /** Records what happened to a run; gives the event's revision (I12). */
  record(run: Pick<RunState, 'runId' | 'generation'>, detail: EventDetail): Revision {
    const number = this.nextRevision();
    const { runId, generation } = run;
    this.events.push({ revision: number, runId, generation, at: new Date(this.wall), detail });
    return number;
  }

  // --- handing over

  /** Undefined when nothing durable changed: then there is nothing to commit. */
  changes(): Changes | undefined {
    const runs = [...this.runs].flatMap(([id, after]) => {
      const before = this.base.runs.get(id);
      // Without a new revision only volatile fields differ.
      return after && after.revision !== before?.revision ? [{ before, after }] : [];
    });
    const deletedRuns = idsOfDeleted(this.runs);
    const changed =
      this.cluster !== this.base.cluster ||
      this.access.changed ||
      this.nodes.size + runs.length + deletedRuns.length > 0 ||
      this.requests.size + this.answers.size + this.footprints.size > 0;
    if (!changed) return undefined;
    return {
      cluster: this.cluster,
      nodes: [...this.nodes.values()].filter((node) => node !== undefined),
      deletedNodes: idsOfDeleted(this.nodes),
      runs,
      deletedRuns,
      requests: [...this.requests.values()],
      events: this.events,
      answers: [...this.answers].map(([runId, answer]) => ({ runId, answer })),
      footprints: [...this.footprints.values()],
      ...this.access.changes,
    };
  }

  /** Nodes whose record or contact changed, for those who watch. */
  touchedNodes(): NodeId[] {
    return [...new Set([...this.nodes.keys(), ...this.contacts.keys()])];
  }

  /** Whether a plan that nobody waits for may be made: one per turn. */
  mayPlan(): boolean {
    const may = !this.hasPlanned;
    this.hasPlanned = true;
    return may;
  }

  /** Makes the turn the world's truth. Called once, after the commit (I4). */
  applyTo(world: World): void {
    world.cluster = this.cluster;
    world.wallAhead = this.wallAhead;
    world.undispatched = this.undispatched;
    addIgnored(world.ignored, this.ignored);
    for (const [id, node] of this.nodes) replaceNode(world, id, node);
    replaceAll(world.runs, this.runs);
    replaceAll(world.contacts, this.contacts);
    replaceAll(world.sessions, this.sessions);
    replaceAll(world.requests, this.requests);
    replaceAll(world.placements, this.placements);
    for (const id of idsOfDeleted(this.nodes)) world.placements.delete(id);
    for (const record of this.footprints.values()) putLast(world.footprints, record);
    this.access.applyTo(world);
    forgetOldRecords(world);
  }

  private nextRevision(): Revision {
    this.cluster = { ...this.cluster, revision: revision(this.cluster.revision + 1n) };
    return this.cluster.revision;
  }

  private reindex(id: NodeId, run: RunState): void {
    // A node that was deleted holds nothing, although a run still names it.
    if (!this.node(id)) return;
    const runs = new Set(this.placements.get(id) ?? this.base.placements.get(id));
    const isHeld = (stage: StageState) => stage.nodeId === id && stage.phase !== 'STOPPED';
    if (run.stages.some(isHeld) || run.remnants.some(({ stage }) => isHeld(stage))) runs.add(run.runId);
    else runs.delete(run.runId);
    this.placements.set(id, runs);
  }
}
