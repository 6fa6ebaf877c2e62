import { isDeepStrictEqual } from 'node:util';
import type {
  Hello,
  StageReport,
  SubscribeRequest,
  SubscribeResponse,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { StageFaultReason, StagePhase } from '../../gen/stageplane/v1/run.js';
import { type NodeId, type RunId, runId, type SessionId } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import { stageName } from '../../src/core/machine/agent/state.js';
import type { Draft } from '../../src/core/machine/draft.js';
import type { Effect } from '../../src/core/machine/effects.js';
import { stageRank } from '../../src/core/machine/stage-transitions.js';
import type { Contact, NodeState, RunState, StageKey, StoredWorld, World } from '../../src/core/machine/state.js';
import { assertInvariants, Watchdog } from '../core/machine/invariants.js';
import { storedFrom } from '../core/machine/world-in-memory.js';
import type { Machine } from './machine.js';
import { Reservations } from './reservations.js';
import type { Simulation } from './simulation.js';
import { wordsOf } from './transcript.js';
import type { Worker } from './worker.js';

/** Holds the invariants of src/core/README.md against everything that happens, as it happens. */
export class Checker {
  readonly #watchdog = new Watchdog();
  readonly #reservations: Reservations;
  /** What the process that ended last knew; undefined when its last commit had no answer. */
  #before: World | undefined;
  #lastRuns = new Map<bigint, RunState>();
  #cordoned = new Set<NodeId>();
  #open = new Set<NodeId>();
  #nextRunId = 1n;
  #epoch = 0n;
  #ignored = 0;
  #runOfRequest = new Map<string, bigint>();
  /** Reports by session, for as long as it lasts. */
  #heard = new Map<SessionId, Map<bigint, StageReport>>();
  #hellos = new Map<SessionId, Hello>();
  #saidBefore = new Set<string>();
  /** As the turn before left them. */
  #contacts = new Map<NodeId, Contact>();
  #newestEpoch = 0n;
  #epochActedOn = new Map<string, bigint>();

  constructor(private readonly sim: Simulation) {
    this.#reservations = new Reservations(sim);
  }

  // --- the orchestrator's process

  orchestratorEnds(world: World): void {
    this.#before = this.sim.commitIsUnknown ? undefined : world;
    this.sim.commitIsUnknown = false;
    // Whether a clone was let in by a turn that nobody has seen is as unknown as the commit.
    for (const { instanceId, processId } of this.#hellos.values())
      if (processId.startsWith('clone')) this.#distrust(instanceId);
    this.#heard.clear();
    this.#hellos.clear();
    this.#contacts.clear();
  }

  /** Restart equivalence: what is loaded is what was known, but for what is volatile (I11). */
  orchestratorStarts(stored: StoredWorld): void {
    const { epoch } = stored.cluster;
    if (epoch <= this.#newestEpoch) this.sim.violated('I5', `epoch ${epoch} begins after ${this.#newestEpoch}`);
    this.#newestEpoch = epoch;
    const before = this.#before && storedFrom(this.#before);
    if (!before) return;
    const same = (what: keyof StoredWorld, a: unknown, b: unknown) => {
      if (!isDeepStrictEqual(a, b)) this.sim.violated('I11', `${what} differ from before the restart`);
    };
    same('cluster', { ...stored.cluster, epoch: 0n }, { ...before.cluster, epoch: 0n });
    same('nodes', byId(stored.nodes, 'nodeId'), byId(before.nodes, 'nodeId'));
    same('runs', byId(stored.runs, 'runId'), byId(before.runs, 'runId'));
    same('requests', byId(stored.requests, 'requestId'), byId(before.requests, 'requestId'));
    same('footprints', byId(stored.footprints, 'key'), byId(before.footprints, 'key'));
  }

  orchestratorStarted(world: World): void {
    const before = this.#before;
    if (before) {
      for (const index of ['nodeByInstance', 'nodeByName'] as const)
        if (!isDeepStrictEqual(world[index], before[index]))
          this.sim.violated('I11', `${index} differs after a restart`);
      for (const id of world.nodes.keys()) {
        if (!isDeepStrictEqual(world.placements.get(id) ?? new Set(), before.placements.get(id) ?? new Set()))
          this.sim.violated('I11', `the placements of node ${id} differ after a restart`);
      }
    }
    this.#watchdog.restarted(world);
    this.#reservations.observe(world);
    this.#lastRuns = new Map(world.runs);
    this.#nextRunId = world.cluster.nextRunId;
    this.#epoch = world.cluster.epoch;
    this.#ignored = 0;
    this.#noteNodes(world);
    for (const run of world.runs.values()) {
      if (run.stages.some(({ phase }) => phase === 'READY')) this.sim.hit('stage kept over an orchestrator restart');
    }
  }

  // --- turns

  /** The turn is applied; nothing of it has been performed. */
  turnCommitted(turn: Draft): void {
    const { sim } = this;
    const stored = sim.store.cluster;
    this.#newestEpoch = stored.epoch;
    if (stored.revision < turn.cluster.revision || stored.epoch < turn.cluster.epoch)
      sim.violated('I4', `revision ${turn.cluster.revision} is performed and ${stored.revision} is committed`);
  }

  turnPerformed(turn: Draft): void {
    const { sim } = this;
    const { world } = sim.orchestrator;
    if (!world) return;
    this.#traceTurn(turn);
    this.#checkWelcomes(turn);
    this.#checkLost(world);
    this.#contacts = new Map(world.contacts);
    if (!isQuiet(turn)) {
      this.#guard(() => {
        assertInvariants(world);
        this.#watchdog.observe(world, turn);
      });
      this.#checkNewRuns(world, turn.effects);
      this.#checkAnswers(world, turn.effects);
      this.#reservations.observe(world, turn);
      this.#checkTruth(world);
      this.#checkBounds(world, turn.effects);
      this.#count(world, turn);
    }
    this.#noteNodes(world);
    this.#lastRuns = new Map(world.runs);
    this.#nextRunId = world.cluster.nextRunId;
  }

  /** I8, I9, I14: who may be placed where, and how often. */
  #checkNewRuns(world: World, effects: readonly Effect[]): void {
    const { sim } = this;
    let created = 0n;
    for (const run of world.runs.values()) {
      const before = this.#lastRuns.get(run.runId);
      if (before?.generation === run.generation) continue;
      if (before) sim.hit('run began again');
      else created += 1n;
      const known = this.#runOfRequest.get(run.requestId);
      if (known !== undefined && known !== run.runId)
        sim.violated('I9', `request ${run.requestId} has made runs ${known} and ${run.runId}`);
      this.#runOfRequest.set(run.requestId, run.runId);
      for (const { nodeId, index } of run.stages) {
        const isAsked = effects.some(
          (e) => e.kind === 'answer' && e.answer.kind === 'node' && e.answer.nodeId === nodeId,
        );
        if (this.#cordoned.has(nodeId) && !isAsked && isClosed(world.nodes.get(nodeId)))
          sim.violated(
            'I14',
            `stage ${index} of run ${run.runId} is placed on node ${nodeId}, which is cordoned or drained`,
          );
        // It may have come and gone in this very turn.
        const wasOpen = welcomedIn({ effects }).includes(nodeId);
        if (!this.#open.has(nodeId) && !wasOpen)
          sim.violated(
            'I14',
            `stage ${index} of run ${run.runId} is placed on node ${nodeId}, which is not reconciled`,
          );
      }
      if (new Set(run.stages.map(({ nodeId }) => nodeId)).size < run.stages.length)
        sim.hit('several stages on one node');
    }
    // A run that was rejected takes no number (I15); one that came and went in one turn is not there any more.
    const deleted = effects.filter((effect) => effect.kind === 'answer' && effect.answer.kind === 'deleted').length;
    const taken = world.cluster.nextRunId - this.#nextRunId;
    // Ids that a restored copy may have lost are stepped over.
    const isSteppedOver = world.cluster.epoch !== this.#epoch;
    this.#epoch = world.cluster.epoch;
    if (!isSteppedOver && taken > created + BigInt(deleted))
      sim.violated('I15', `${created} runs took ${taken} numbers`);
  }

  #checkAnswers(world: World, effects: readonly Effect[]): void {
    const { sim } = this;
    for (const effect of effects) {
      if (effect.kind !== 'answer') continue;
      const { answer, call } = effect;
      sim.hit(`answer ${answer.kind}`);
      const requestId = sim.requestOfCall.get(call);
      sim.requestOfCall.delete(call);
      if (answer.kind === 'run' && requestId !== undefined) {
        const known = this.#runOfRequest.get(requestId);
        if (known !== undefined && known !== answer.runId)
          sim.violated('I9', `request ${requestId} is answered with run ${answer.runId}, and was with ${known}`);
      }
      const isKnown = requestId !== undefined && this.#runOfRequest.has(requestId);
      if (answer.kind === 'rejected' && requestId !== undefined && !isKnown && world.requests.has(requestId))
        sim.violated('I15', `the rejected request ${requestId} is remembered`);
      const report = 'report' in answer ? answer.report : undefined;
      if (!report) continue;
      const used = new Set(report.selected?.placement?.stages.map(({ nodeId }) => nodeId)).size;
      if (report.exclusions.length + used !== report.nodesConsidered)
        sim.violated('I15', `${report.exclusions.length} nodes excluded and ${used} used of ${report.nodesConsidered}`);
    }
  }

  /** A status comes from the stage's own node, and what counts as stopped is (I3, I6, I18). */
  #checkTruth(world: World): void {
    const { sim } = this;
    for (const run of world.runs.values()) {
      const before = this.#lastRuns.get(run.runId);
      if (before?.revision === run.revision) continue;
      this.#checkRemnants(world, before, run);
      for (const stage of run.stages) {
        const was = before?.stages[stage.index]?.phase;
        if (before?.generation === run.generation && was === stage.phase) continue;
        const machine = sim.machineOf(world.nodes.get(stage.nodeId));
        if (!machine?.isTrusted) continue;
        const key = { runId: run.runId, stageIndex: stage.index, generation: run.generation };
        if (stage.phase === 'READY' && !sim.truth.wasReady(key, machine.name))
          sim.violated('I6', `${stageName(key)} is READY and no worker on ${machine.name} ever was`);
        // A node that is fenced while it sleeps stops its workers when it wakes.
        if (stage.phase === 'STOPPED' && was !== undefined && !this.#mayOutliveLease(machine)) {
          this.#checkGone(machine, key);
        }
      }
    }
  }

  /** What was LOST with its generation is forgotten when nothing of it lives. */
  #checkRemnants(world: World, before: RunState | undefined, run: RunState): void {
    for (const { generation, stage } of before?.remnants ?? []) {
      const isKept = run.remnants.some((kept) => kept.generation === generation && kept.stage.index === stage.index);
      const machine = this.sim.machineOf(world.nodes.get(stage.nodeId));
      if (isKept || !machine?.isTrusted || this.#mayOutliveLease(machine)) continue;
      this.sim.hit('remnant settled');
      this.#checkGone(machine, { runId: run.runId, stageIndex: stage.index, generation });
    }
  }

  #checkGone(machine: Machine, key: StageKey): void {
    for (const worker of machine.workers) {
      if (worker.isAlive && stageName(worker.key) === stageName(key))
        this.sim.violated('I3', `${stageName(key)} counts as STOPPED and its worker lives on ${machine.name}`);
    }
  }

  #mayOutliveLease(machine: Machine): boolean {
    return machine.sleptAt > this.sim.time.now - 2 * this.sim.timings.lease;
  }

  #checkBounds(world: World, effects: readonly Effect[]): void {
    const { sim } = this;
    const bound = (what: string, size: number, most: number) => {
      if (size > most) sim.violated('I16', `${size} ${what}, and at most ${most} are needed`);
    };
    bound('nodes', world.nodes.size, limits.nodes);
    bound('contacts', world.contacts.size, world.nodes.size);
    bound('names', world.nodeByName.size, world.nodes.size);
    bound('placements', world.placements.size, world.nodes.size);
    bound('requests', world.requests.size, limits.requestRecords);
    bound('footprints', world.footprints.size, limits.footprintRecords);
    let current = 0;
    for (const { session } of world.contacts.values()) current += Number(session !== undefined);
    bound('sessions', world.sessions.size, current);
    for (const effect of effects) {
      if (effect.kind !== 'send' || effect.message.message?.$case !== 'provision') continue;
      const session = world.sessions.get(effect.session);
      if (session)
        bound('unanswered deliveries', session.unanswered.size, world.placements.get(session.nodeId)?.size ?? 0);
    }
  }

  /** Who is welcomed: under no older epoch than it has seen (I5), and no second process while the first is there (I3). */
  #checkWelcomes(turn: Draft): void {
    const { sim } = this;
    for (const effect of turn.effects) {
      if (effect.kind !== 'send' || effect.message.message?.$case !== 'welcome') continue;
      const { nodeId, epoch } = effect.message.message.value;
      const hello = this.#hellos.get(effect.session);
      if (hello && epoch < hello.highestEpoch)
        sim.violated('I5', `${hello.name} has seen epoch ${hello.highestEpoch} and is welcomed under ${epoch}`);
      const before = this.#contacts.get(nodeId as NodeId);
      const isReplaced = turn.effects.some((e) => e.kind === 'close-session' && e.session === before?.session);
      const isOnly = welcomedIn(turn).filter((id) => id === nodeId).length === 1;
      const isHeard = before !== undefined && turn.now - before.lastHeard <= 2 * sim.timings.heartbeat;
      if (isReplaced && isOnly && isHeard && before.processId !== hello?.processId)
        sim.violated('I3', `${hello?.processId} takes node ${nodeId} over while ${before.processId} speaks`);
      // Two processes with one identity, and the second is taken for the first: nobody can tell them apart now.
      if (hello?.processId.startsWith('clone')) this.#distrust(hello.instanceId);
    }
  }

  #distrust(instanceId: string): void {
    const machine = this.sim.machines.find(({ disk }) => disk.instanceId === instanceId);
    if (machine) machine.isTrusted = false;
  }

  /** Silence while the orchestrator itself stood still says nothing: a grace that was running starts anew (I20). */
  #checkLost(world: World): void {
    const { sim } = this;
    const since = Math.max(sim.orchestrator.wokeAt, sim.orchestrator.startedAt);
    const patience = Math.min(sim.timings.grace, sim.timings.graceAfterStart) - 1000;
    if (sim.time.now - since > patience) return;
    for (const [id, { lost }] of world.contacts) {
      const before = this.#contacts.get(id);
      if (lost && before && !before.lost && before.session === undefined)
        sim.violated('I20', `node ${id} is lost ${sim.time.now - since} ms after the orchestrator woke`);
    }
  }

  // --- messages

  orchestratorHears(session: SessionId, { message }: SubscribeRequest): void {
    if (message?.$case !== 'heartbeat') this.sim.trace(() => `${session} -> ${wordsOf(message)}`);
    if (message?.$case === 'hello') this.#hellos.set(session, message.value);
    if (message?.$case !== 'report' || message.value.report?.$case === 'loading') return;
    const reports = this.#heard.get(session) ?? new Map<bigint, StageReport>();
    const name = `${this.#hellos.get(session)?.processId} ${message.value.reportId}`;
    if (this.#saidBefore.has(name)) this.sim.hit('report acknowledged again');
    this.#saidBefore.add(name);
    this.#heard.set(session, reports.set(message.value.reportId, message.value));
  }

  /** What is sent is committed, and so is what is acknowledged (I4). */
  orchestratorSends(session: SessionId, { message }: SubscribeResponse): void {
    const { sim } = this;
    const stored = sim.store.runs;
    if (message?.$case !== 'heartbeatAck') sim.trace(() => `${session} <- ${wordsOf(message)}`);
    switch (message?.$case) {
      case 'provision':
        for (const { provision } of message.value.stages) {
          const run = stored.get(runId(provision!.runId));
          const phase = run?.stages[provision!.stageIndex]?.phase;
          if (!run || !phase || stageRank(phase) < stageRank('SENT'))
            sim.violated('I4', `stage ${provision!.stageIndex} of run ${provision!.runId} is sent and stored ${phase}`);
        }
        return;
      case 'reportAck':
        for (const id of message.value.reportIds) this.#checkReportAck(session, id, stored);
    }
  }

  #checkReportAck(session: SessionId, id: bigint, stored: ReadonlyMap<RunId, RunState>): void {
    const { sim } = this;
    const report = this.#heard.get(session)?.get(id);
    const node = sim.orchestrator.world?.sessions.get(session)?.nodeId;
    const run = report && stored.get(runId(report.runId));
    const stage = run?.stages[report?.stageIndex ?? 0];
    if (!report?.report || !run || !stage || stage.nodeId !== node || run.generation !== report.generation) return;
    const needed = { ready: 'READY', fault: 'FAULTED', stopped: 'STOPPED', loading: 'PENDING' } as const;
    if (stageRank(stage.phase) < stageRank(needed[report.report.$case]))
      sim.violated(
        'I4',
        `${report.report.$case} of stage ${stage.index} of run ${run.runId} is acknowledged, stored ${stage.phase}`,
      );
  }

  // --- agents

  /** No act by an old epoch after a newer one was obeyed, on disk before it was (I5). */
  agentActs(machine: Machine, epoch: bigint | undefined): void {
    const { sim } = this;
    const { instanceId, highestEpoch } = machine.disk;
    const acted = this.#epochActedOn.get(instanceId) ?? 0n;
    if (epoch === undefined) return;
    if (epoch < acted) sim.violated('I5', `${machine.name} acts for epoch ${epoch} after ${acted}`);
    if (highestEpoch < epoch)
      sim.violated('I5', `${machine.name} acts for epoch ${epoch}, its disk knows ${highestEpoch}`);
    this.#epochActedOn.set(instanceId, epoch);
  }

  agentReconciled(machine: Machine): void {
    const { world } = this.sim.orchestrator;
    const id = machine.disk.nodeId;
    if (!world || id === 0n) return;
    for (const run of world.runs.values())
      if (run.stages.some((stage) => stage.nodeId === id && stage.phase === 'LOST')) this.sim.hit('LOST then returned');
  }

  /** At most one live worker per stage; one of an older generation lives on only where nobody can reach it (I3). */
  workerStarts(machine: Machine, worker: Worker): void {
    const { sim } = this;
    const { runId: id, stageIndex, generation } = worker.key;
    for (const live of sim.truth.workers()) {
      const { key } = live.worker;
      if (key.runId !== id || key.stageIndex !== stageIndex || live.worker === worker) continue;
      if (!live.machine.isTrusted || !machine.isTrusted) continue;
      const where = `${live.machine.name} and ${machine.name}`;
      if (key.generation === generation)
        sim.violated('I3', `stage ${stageIndex} of run ${id} g${generation} runs twice, on ${where}`);
      const contact = sim.contactOf(live.machine);
      if (contact?.session !== undefined && live.machine.agent?.state.contact.kind === 'joined')
        sim.violated(
          'I3',
          `stage ${stageIndex} of run ${id} g${key.generation} lives beside g${generation}, on ${where}`,
        );
    }
  }

  // --- helpers

  #count(world: World, turn: Draft): void {
    const { sim } = this;
    if (world.ignoredMessages > this.#ignored) sim.hit('stale message ignored');
    this.#ignored = world.ignoredMessages;
    for (const effect of turn.effects) {
      if (effect.kind === 'say' && effect.message.includes('grace is extended'))
        sim.hit('mass loss extended the grace');
      if (effect.kind === 'close-session') sim.hit(`session refused ${effect.why.reason}`);
    }
    for (const { runId: id, detail } of turn.events) {
      if (detail?.$case === 'restartRefused') sim.hit('restart refused');
      if (detail?.$case === 'reservationExceeded') sim.hit('reservation exceeded');
      if (detail?.$case === 'stagePhase')
        sim.hit(`stage ${StagePhase[detail.value.phase].replace('STAGE_PHASE_', '')}`);
      const run = world.runs.get(runId(id));
      if (!run) continue;
      sim.hit(`run ${run.phase}`);
      if (run.outcome) sim.hit(`run ${run.outcome}`);
      if (run.cause) sim.hit(`cause ${StageFaultReason[run.cause.fault.reason].replace('STAGE_FAULT_REASON_', '')}`);
      for (const { phase, nodeId, index } of run.stages) {
        if (phase === 'PENDING') sim.hit('stage PENDING');
        const was = this.#lastRuns.get(run.runId)?.stages[index]?.phase;
        if (was === 'LOST' && phase === 'STOPPED' && world.contacts.get(nodeId)?.lost) sim.hit('fenced');
      }
    }
    for (const [id] of turn.answers)
      if (world.runs.get(id)?.outcome !== 'COMPLETED') sim.hit('answer kept of a broken run');
  }

  #noteNodes(world: World): void {
    this.#cordoned = new Set();
    this.#open = new Set();
    for (const node of world.nodes.values()) {
      if (node.cordoned || node.drainUntil !== undefined) this.#cordoned.add(node.nodeId);
      if (world.contacts.get(node.nodeId)?.reconciledAt !== undefined) this.#open.add(node.nodeId);
    }
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      const { message } = error as Error;
      this.sim.violated(/^I\d+/.exec(message)?.[0] ?? 'defect', message);
    }
  }

  #traceTurn(turn: Draft): void {
    for (const { runId: id, detail } of turn.events) {
      this.sim.trace(() => {
        const value = JSON.stringify(detail?.value, (_key, inner) =>
          typeof inner === 'bigint' ? String(inner) : inner,
        );
        return `r${turn.cluster.revision} run ${id} ${detail?.$case} ${value.slice(0, 200)}`;
      });
    }
    for (const effect of turn.effects) {
      if (effect.kind === 'say') this.sim.trace(() => `says ${effect.message}`);
      if (effect.kind === 'close-session') this.sim.trace(() => `closes ${effect.session}: ${effect.why.reason}`);
      if (effect.kind === 'answer') this.sim.trace(() => `answers ${effect.answer.kind}`);
    }
  }
}

/** The nodes whose agents a turn has let in. */
function welcomedIn({ effects }: { readonly effects: readonly Effect[] }): bigint[] {
  return effects.flatMap((effect) =>
    effect.kind === 'send' && effect.message.message?.$case === 'welcome' ? [effect.message.message.value.nodeId] : [],
  );
}

/** Heartbeats and endpoints that are ready change only what is volatile, and most turns are of them. */
function isQuiet({ events, effects }: Draft): boolean {
  const isHeartbeat = (effect: Effect) => effect.kind === 'send' && effect.message.message?.$case === 'heartbeatAck';
  return events.length === 0 && effects.every(isHeartbeat);
}

function isClosed(node: NodeState | undefined): boolean {
  return node?.cordoned === true || node?.drainUntil !== undefined;
}

function byId<T>(items: readonly T[], key: keyof T): T[] {
  return [...items].sort((a, b) => (a[key] < b[key] ? -1 : Number(a[key] > b[key])));
}
