import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
  type WatchEventsRequest,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { type RunEvent, RunPhase } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../../core/limits.js';
import { streamCall, unaryCall } from '../../grpc/client.js';
import { RpcError } from '../../grpc/rpc-error.js';
import { backOff, isWorthWaiting } from '../../launcher/follow-run.js';
import type { TopUpdate } from './top-state.js';

/** Events that are shown of the time before. */
const PAST_EVENTS = 50;

/**
 * Tells everything that happens in a cluster: two watches, which go on where they broke off, and a look now and then at
 * what no watch tells.
 */
export class TopFeed {
  private revision: bigint | undefined;
  private readonly down = new Set<string>();
  private wasUp = false;
  /** Runs that are not DONE, as far as is known. */
  private readonly live = new Set<bigint>();
  private lookNow: () => void = () => {};

  constructor(
    private readonly client: OrchestratorServiceClient,
    private readonly tell: (update: TopUpdate) => void,
    private readonly signal: AbortSignal,
  ) {}

  /** Resolves when the signal fires. Throws RpcError when the orchestrator refuses, or was never there. */
  async follow(): Promise<void> {
    // All that is there comes first, so that a first picture is a whole one.
    await this.look();
    await Promise.all([
      this.keep('nodes', () => this.watchNodes()),
      this.keep('events', () => this.watchEvents()),
      this.keep('runs', () => this.lookForEver()),
    ]);
  }

  /** Everything that is there, once. */
  async look(): Promise<void> {
    const { signal } = this;
    const request = { pageSize: limits.topRuns, pageToken: '', activeOnly: false };
    const { runs, nextPageToken } = await unaryCall(this.client, service.listRuns, request, { signal });
    this.tell({ kind: 'runs', summaries: runs, isAll: nextPageToken === '' });
    for (const { runId, phase } of runs) {
      if (phase === RunPhase.RUN_PHASE_DONE) this.live.delete(runId);
      else this.live.add(runId);
    }
    const newest = [...this.live].sort((a, b) => (a < b ? 1 : -1)).slice(0, limits.topReadRuns);
    for (const runId of newest) await this.read(runId);
  }

  /** What has happened to one run from its beginning. */
  async tellTimeline(runId: bigint): Promise<void> {
    const events: RunEvent[] = [];
    try {
      await this.read(runId);
      for await (const { update } of streamCall(
        this.client,
        service.watchRun,
        { runId, afterRevision: 0n },
        { signal: this.signal },
      )) {
        if (update?.$case === 'event') events.push(update.value);
        // From here on the watch of all events tells it.
        else if (update?.$case === 'progress') break;
      }
    } catch (error) {
      // It was deleted, or the connection is lost, which others say.
      if (!(error instanceof RpcError)) throw error;
      return;
    }
    this.tell({ kind: 'timeline', runId, events });
  }

  private async watchNodes(): Promise<void> {
    const told = new Set<bigint>();
    let isWhole = false;
    for await (const { update } of streamCall(this.client, service.watchNodes, {}, { signal: this.signal })) {
      if (update?.$case === 'node') {
        told.add(update.value.nodeId);
        this.tell({ kind: 'node', node: update.value });
      } else if (update?.$case === 'removedNodeId') {
        this.tell({ kind: 'node-removed', nodeId: update.value });
      } else if (update?.$case === 'progress' && !isWhole) {
        isWhole = true;
        this.tell({ kind: 'nodes-told', nodeIds: told });
        this.up('nodes');
      }
    }
  }

  private async watchEvents(): Promise<void> {
    const from: WatchEventsRequest['from'] =
      this.revision === undefined
        ? { $case: 'last', value: PAST_EVENTS }
        : { $case: 'afterRevision', value: this.revision };
    for await (const { update } of streamCall(this.client, service.watchEvents, { from }, { signal: this.signal })) {
      if (update?.$case === 'event') this.takeEvent(update.value);
      else if (update?.$case === 'progress') {
        this.revision = update.value.revision;
        this.tell({ kind: 'revision', revision: this.revision });
        this.up('events');
      }
    }
  }

  private takeEvent(event: RunEvent): void {
    this.tell({ kind: 'event', event });
    if (event.detail?.$case !== 'runPhase') return;
    const { phase, stages } = event.detail.value;
    if (phase === RunPhase.RUN_PHASE_DONE) this.live.delete(event.runId);
    else this.live.add(event.runId);
    // A run, or a generation, that nobody has seen yet.
    if (phase === RunPhase.RUN_PHASE_PROVISIONING || stages.length > 0) this.lookNow();
  }

  private async lookForEver(): Promise<void> {
    while (!this.signal.aborted) {
      await this.look();
      this.up('runs');
      const soon = new AbortController();
      this.lookNow = () => soon.abort();
      const either = AbortSignal.any([soon.signal, this.signal]);
      await sleep(limits.topLookMillis, undefined, { signal: either }).catch(() => {});
    }
  }

  private async read(runId: bigint): Promise<void> {
    try {
      const { run } = await unaryCall(this.client, service.getRun, { runId }, { signal: this.signal });
      if (run) this.tell({ kind: 'run', run });
    } catch (error) {
      // Deleted in the meantime.
      if (!(error instanceof RpcError && error.code === status.NOT_FOUND)) throw error;
      this.live.delete(runId);
    }
  }

  private async keep(name: string, follow: () => Promise<void>): Promise<void> {
    for (let attempt = 0; !this.signal.aborted; attempt += 1) {
      this.down.add(name);
      const error = await follow().catch((thrown: unknown) => thrown);
      if (this.signal.aborted) return;
      if (!this.down.has(name)) attempt = 0;
      this.goDown(name, error);
      await backOff(attempt, this.signal);
    }
  }

  private up(name: string): void {
    if (!this.down.delete(name) || this.down.size > 0) return;
    this.wasUp = true;
    this.tell({ kind: 'connected' });
  }

  private goDown(name: string, error: unknown): void {
    this.down.add(name);
    if (error instanceof RpcError && error.reason === 'REVISION_AHEAD') {
      this.revision = undefined;
      this.tell({ kind: 'begun-anew' });
    } else if (error !== undefined && !(this.wasUp && isWorthWaiting(error, Date.now(), this.signal))) throw error;
    const why = error instanceof RpcError ? error.message : 'the orchestrator has ended the watch';
    this.tell({ kind: 'lost', at: new Date(), why });
  }
}
