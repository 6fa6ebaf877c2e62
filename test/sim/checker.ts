import { isDeepStrictEqual } from 'node:util';
import type { NodeId } from '../../src/core/ids.js';
import type { Draft } from '../../src/core/machine/draft.js';
import type { Effect } from '../../src/core/machine/effects.js';
import type { ClusterState, Contact, NodeState, RunState, StoredWorld, World } from '../../src/core/machine/state.js';
import { assertInvariants, Watchdog } from '../core/machine/invariants.js';
import { storedFrom } from '../core/machine/world-in-memory.js';
import { checkBounds } from './bounds.js';
import { DrainChecker } from './drain-checker.js';
import type { Machine } from './machine.js';
import { MessageChecker } from './message-checker.js';
import { Reservations } from './reservations.js';
import type { Simulation } from './simulation.js';
import { countTurn, tellTurn } from './turn-notes.js';
import { WorkerChecker } from './worker-checker.js';

/** Holds the invariants of src/core/README.md against everything that happens, as it happens. */
export class Checker {
  readonly messages: MessageChecker;
  readonly workers: WorkerChecker;
  readonly drains: DrainChecker;
  #watchdog = new Watchdog();
  #reservations: Reservations;
  /** What the process that ended last knew; undefined when its last commit had no answer. */
  #before: World | undefined;
  #lastRuns = new Map<bigint, RunState>();
  #cordoned = new Set<NodeId>();
  #open = new Set<NodeId>();
  #nextRunId = 1n;
  #epoch = 0n;
  #runOfRequest = new Map<string, bigint>();
  /** As the turn before left them. */
  #contacts = new Map<NodeId, Contact>();
  #newestEpoch = 0n;
  #epochActedOn = new Map<string, bigint>();
  /** What a life had come to that was lost with an older copy. */
  #lost: ClusterState | undefined;

  constructor(private readonly sim: Simulation) {
    this.messages = new MessageChecker(sim);
    this.workers = new WorkerChecker(sim);
    this.drains = new DrainChecker(sim);
    this.#reservations = new Reservations(sim);
  }

  // --- the orchestrator's process

  /** @param ahead milliseconds that its wall clock shows beyond its own */
  orchestratorEnds(world: World, ahead: number): void {
    this.#before = this.sim.commitIsUnknown ? undefined : world;
    this.sim.commitIsUnknown = false;
    // Whether a clone was let in by a turn that nobody has seen is as unknown as the commit.
    for (const { instanceId, processId } of this.messages.hellos.values())
      if (processId.startsWith('clone')) this.#distrust(instanceId);
    this.messages.orchestratorEnds();
    this.drains.orchestratorEnds(world, ahead);
    this.#contacts.clear();
  }

  /** An older copy takes the place of the store: of what came after it only the ids count, which nobody may give again. */
  putBack(lost: ClusterState): void {
    this.#lost = lost;
    this.#before = undefined;
    this.#watchdog = new Watchdog();
    this.#reservations = new Reservations(this.sim);
    this.#runOfRequest.clear();
    this.drains.forget();
  }

  /** Restart equivalence: what is loaded is what was known, but for what is volatile (I11). */
  orchestratorStarts(stored: StoredWorld): void {
    const { epoch } = stored.cluster;
    if (epoch <= this.#newestEpoch) this.sim.violated('I5', `epoch ${epoch} begins after ${this.#newestEpoch}`);
    this.#newestEpoch = epoch;
    if (this.#lost) this.#checkStepOver(stored.cluster, this.#lost);
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

  #checkStepOver(cluster: ClusterState, lost: ClusterState): void {
    for (const counter of ['revision', 'nextRunId', 'nextNodeId'] as const)
      if (cluster[counter] < lost[counter])
        this.sim.violated(
          'I3',
          `${counter} is ${cluster[counter]} after a backup was put back, and was ${lost[counter]}`,
        );
    this.#lost = undefined;
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
    tellTurn(sim, turn);
    this.#checkWelcomes(turn);
    this.#checkLost(world);
    if (!isQuiet(turn)) {
      this.#guard(() => {
        assertInvariants(world);
        this.#watchdog.observe(world, turn);
      });
      this.#checkNewRuns(world, turn.effects);
      this.#checkAnswers(world, turn.effects);
      this.#reservations.observe(world, turn);
      this.workers.checkStatuses(world, this.#lastRuns);
      for (const run of world.runs.values()) this.drains.check(this.#lastRuns.get(run.runId), run);
      this.drains.turnOver();
      checkBounds(sim, world, turn.effects);
      countTurn(sim, world, turn, this.#lastRuns);
    }
    this.#noteNodes(world);
    this.#contacts = new Map(world.contacts);
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
      if (before) {
        sim.hit('run began again');
        this.workers.generationBegins(run);
      } else created += 1n;
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
      if (answer.kind === 'node') this.drains.answered(call);
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

  /** Who is welcomed: under no older epoch than it has seen (I5), and no second process while the first is there (I3). */
  #checkWelcomes(turn: Draft): void {
    const { sim } = this;
    for (const effect of turn.effects) {
      if (effect.kind !== 'send' || effect.message.message?.$case !== 'welcome') continue;
      const { nodeId, epoch } = effect.message.message.value;
      const hello = this.messages.hellos.get(effect.session);
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
    this.workers.joined(machine);
    const { world } = this.sim.orchestrator;
    const id = machine.disk.nodeId;
    if (!world || id === 0n) return;
    for (const run of world.runs.values())
      if (run.stages.some((stage) => stage.nodeId === id && stage.phase === 'LOST')) this.sim.hit('LOST then returned');
  }

  // --- helpers

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
