import { status } from '@grpc/grpc-js';
import { expect } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { revision, runId as toRunId } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import { stageRank } from '../../src/core/machine/stage-transitions.js';
import type { StoredWorld } from '../../src/core/machine/state.js';
import { wireRunOutcome, wireRunPhase, wireStagePhase } from '../../src/core/machine/wire-names.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import type { FailPointName } from '../../src/orchestrator/fail-point.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { samplePlan } from '../core/machine/samples.js';
import { DaemonProcess } from './daemon-process.js';
import { HonestAgent, type Key } from './honest-agent.js';

/** How the two runs of a story end. */
const endings = ['stopped', 'faulted'] as const;

/**
 * A daemon that is killed again and again, its agents, and a launcher who never gives up. After each kill everything that
 * anybody was told is compared with what the store has (I4, I11).
 */
export class CrashStory {
  kills = 0;
  private daemon = new DaemonProcess();
  /** Loaded while the other one lives: that is what a start costs most. */
  private spare = new DaemonProcess();
  private address = '';
  private client!: OrchestratorServiceClient;
  private readonly agents = [new HonestAgent('alpha'), new HonestAgent('beta')];
  /** Run ids that the launcher was told, by request id. */
  private readonly told = new Map<string, bigint>();
  /** Revisions that watchers were told, by run. */
  private readonly watched = new Map<bigint, Set<bigint>>();

  constructor(private readonly dataFolder: string) {}

  async begin(): Promise<void> {
    await this.start();
  }

  /** Two runs from their creation to their ends, with a crash on the way; false when the point was not reached. */
  async crashAt(name: FailPointName, passage: number): Promise<boolean> {
    const killsBefore = this.kills;
    await this.daemon.arm(name, passage);
    await this.rejoin();
    const [stopped, faulted] = await this.both((which) => this.create(`${name}:${passage} ${which}`), endings);
    const runs = [stopped!, faulted!];
    await this.both((runId) => this.watch(runId, RunPhase.RUN_PHASE_RUNNING), runs);
    this.agents[1]?.fault(faulted!);
    await this.insist(() => this.stop(stopped!));
    await this.both((runId) => this.watch(runId, RunPhase.RUN_PHASE_DONE), runs);
    await this.expectOutcome(stopped!, RunOutcome.RUN_OUTCOME_STOPPED);
    await this.expectOutcome(faulted!, RunOutcome.RUN_OUTCOME_FAULTED);
    this.expectNothingLeft();
    return this.kills > killsBefore;
  }

  async end(): Promise<void> {
    for (const agent of this.agents) agent.leave();
    this.client?.close();
    await Promise.all([this.daemon.kill(), this.spare.kill()]);
  }

  private async start(): Promise<void> {
    const address = await this.daemon.start(this.dataFolder, '127.0.0.1:0');
    if (address === undefined) throw new Error('the daemon ended at its start');
    this.address = address;
    this.client?.close();
    this.client = dial(address, OrchestratorServiceClient);
  }

  /** Both agents come back, anew, as after a network's failure: so their inventories are compared in every story. */
  private async rejoin(): Promise<void> {
    await this.insist(async () => {
      await Promise.all(this.agents.map((agent) => agent.join(this.address)));
      await unaryCall(this.client, Service.listNodes, { pageSize: 1, pageToken: '' });
    });
  }

  private both<T, R>(deed: (what: T) => Promise<R>, whats: readonly T[]): Promise<R[]> {
    return this.insist(() => Promise.all(whats.map(deed)));
  }

  /** Does something until it is done, whatever dies meanwhile. */
  private async insist<T>(deed: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await Promise.race([deed(), this.daemon.ended.then(() => Promise.reject(new Died()))]);
      } catch (error) {
        const cutOff =
          error instanceof RpcError && [status.UNAVAILABLE, status.CANCELLED, status.INTERNAL].includes(error.code);
        if (!(error instanceof Died) && !cutOff) throw error;
        await this.recover();
      }
    }
  }

  private async recover(): Promise<void> {
    expect(await this.daemon.ended).toBe('SIGKILL');
    this.kills += 1;
    const stored = this.readStore();
    this.expectToldIsStored(stored);
    this.daemon = this.spare;
    this.spare = new DaemonProcess();
    await this.start();
    await this.expectEquivalent(stored);
    await Promise.all(this.agents.map((agent) => agent.join(this.address)));
  }

  private readStore(): StoredWorld {
    const store = openSqliteStore(this.dataFolder, { newClusterId: () => 'never' });
    try {
      for (const [runId, revisions] of this.watched) {
        const events = store.runEvents(toRunId(runId), revision(0n), 10_000).map((event) => event.revision);
        expect(events).toEqual(expect.arrayContaining([...revisions]));
      }
      return store.load();
    } finally {
      store.close();
    }
  }

  /** Nothing was sent, acknowledged or answered that is not there (I4, I9). */
  private expectToldIsStored({ cluster, nodes, runs, requests }: StoredWorld): void {
    for (const [requestId, runId] of this.told) {
      expect(requests.find((request) => request.requestId === requestId)?.runId).toBe(runId);
    }
    const stageOf = ({ runId, stageIndex, generation }: Key) => {
      const run = runs.find((one) => one.runId === runId && one.generation === generation);
      if (!run) throw new Error(`run ${runId} g${generation} was told of and is not stored`);
      return { run, rank: stageRank(run.stages[stageIndex]!.phase) };
    };
    const ranks = { ready: stageRank('READY'), fault: stageRank('FAULTED'), stopped: stageRank('STOPPED'), loading: 0 };
    for (const { heard } of this.agents) {
      for (const { nodeId, epoch } of heard.welcomes) {
        expect(nodes.some((node) => node.nodeId === nodeId)).toBe(true);
        expect(cluster.epoch).toBeGreaterThanOrEqual(epoch);
      }
      for (const key of heard.provisions) expect(stageOf(key).rank).toBeGreaterThanOrEqual(stageRank('SENT'));
      for (const key of heard.stops) expect(stageOf(key).run.outcome).toBeDefined();
      for (const { key, what } of heard.acknowledged) expect(stageOf(key).rank).toBeGreaterThanOrEqual(ranks[what]);
    }
  }

  /** Before any agent is back the new process is where the old one was, one epoch later (I11). */
  private async expectEquivalent(before: StoredWorld): Promise<void> {
    for (const stored of before.runs.slice(-3)) {
      const { run } = await unaryCall(this.client, Service.getRun, { runId: stored.runId });
      expect(run?.phase).toBe(wireRunPhase(stored.phase));
      expect(run?.outcome).toBe(wireRunOutcome(stored.outcome));
      expect(run?.stages.map((stage) => stage.phase)).toEqual(
        stored.stages.map((stage) => wireStagePhase(stage.phase)),
      );
    }
    const { cluster } = before;
    expect(this.readStoreBeside()).toEqual({ ...before, cluster: { ...cluster, epoch: cluster.epoch + 1n } });
  }

  private readStoreBeside(): StoredWorld {
    const store = openSqliteStore(this.dataFolder, { newClusterId: () => 'never' });
    const world = store.load();
    store.close();
    return world;
  }

  private async create(requestId: string): Promise<bigint> {
    const { nodes } = await unaryCall(this.client, Service.listNodes, { pageSize: limits.pageSize, pageToken: '' });
    // A run of both agents, and one that beta has alone: more would be sent, and nothing else.
    const names = requestId.endsWith('stopped') ? ['alpha', 'beta'] : ['beta'];
    const ids = names.map((name) => nodes.find((node) => node.name === name)?.nodeId ?? 0n);
    const { outcome } = await unaryCall(this.client, Service.createRun, { requestId, plan: samplePlan(ids) });
    if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
    const { runId } = outcome.value;
    expect(this.told.get(requestId) ?? runId).toBe(runId);
    this.told.set(requestId, runId);
    return runId;
  }

  /** A stop that has had its effect may be asked for again. */
  private async stop(runId: bigint): Promise<void> {
    await unaryCall(this.client, Service.stopRun, { runId });
  }

  private async watch(runId: bigint, phase: RunPhase): Promise<void> {
    const seen = this.watched.get(runId) ?? new Set<bigint>();
    this.watched.set(runId, seen);
    for await (const { update } of streamCall(this.client, Service.watchRun, { runId, afterRevision: 0n })) {
      if (update?.$case !== 'event') continue;
      seen.add(update.value.revision);
      const { detail } = update.value;
      if (detail?.$case === 'runPhase' && detail.value.phase === phase) return;
    }
    throw new Died();
  }

  private async expectOutcome(runId: bigint, outcome: RunOutcome): Promise<void> {
    const { run } = await this.insist(() => unaryCall(this.client, Service.getRun, { runId }));
    expect(run?.outcome).toBe(outcome);
  }

  /** Each stage was started once, and none is left (I3, I17, I18). */
  private expectNothingLeft(): void {
    for (const agent of this.agents) {
      expect([...agent.starts.values()].filter((count) => count !== 1)).toEqual([]);
      expect(agent.holds()).toEqual([]);
    }
  }
}

/** The daemon is dead, or as good as dead. */
class Died extends Error {}
