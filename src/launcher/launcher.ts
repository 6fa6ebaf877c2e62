import type { ChannelCredentials } from '@grpc/grpc-js';
import type { GgufSource, ModelInspection } from '../../gen/stageplane/v1/model.js';
import type { Node } from '../../gen/stageplane/v1/node.js';
import {
  CreateRunRequest,
  type CreateRunResponse,
  GenerateRequest,
  type GenerateResponse,
  OrchestratorServiceClient,
  PlanRunRequest,
  type PlanRunResponse,
  OrchestratorServiceService as service,
  type WatchEventsRequest,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import type { Run, RunSummary } from '../../gen/stageplane/v1/run.js';
import type { DeepPartial } from '../core/deep-partial.js';
import { dial, streamCall, unaryCall } from '../grpc/client.js';
import { clientOptions } from '../grpc/client-options.js';
import { type EventNews, followEvents } from './follow-events.js';
import { followRun, type RunNews } from './follow-run.js';
import { listNodes, listRuns } from './list-all.js';
import { untilRunning } from './until-running.js';

/**
 * A launcher's connection to an orchestrator. Every method rejects with RpcError alone, whose `reason` is a constant;
 * a plan that is rejected is an answer, not an error. Fields of a request that are left out have their defaults. Close it
 * when done.
 */
export class Launcher {
  readonly #client: OrchestratorServiceClient;

  /** @param address `host:port` or `unix:/path`; plain text unless credentials are given */
  constructor(address: string, credentials?: ChannelCredentials) {
    this.#client = dial(address, OrchestratorServiceClient, clientOptions, credentials);
  }

  /** Reads a GGUF header on the orchestrator's disk. */
  async inspectModel(source: GgufSource, includeTensors = false): Promise<ModelInspection> {
    const { inspection } = await unaryCall(this.#client, service.inspectModel, { source, includeTensors });
    return inspection!;
  }

  /** Plans and commits nothing. */
  planRun(plan: DeepPartial<PlanRequest>): Promise<PlanRunResponse> {
    return unaryCall(this.#client, service.planRun, PlanRunRequest.fromPartial({ plan }));
  }

  /** Starts a run, once per `requestId`: repeating a call whose answer was lost is safe. */
  createRun(request: DeepPartial<CreateRunRequest>): Promise<CreateRunResponse> {
    return unaryCall(this.#client, service.createRun, CreateRunRequest.fromPartial(request));
  }

  /** The run as it is now. Rejects with RUN_NOT_FOUND. */
  async getRun(runId: bigint): Promise<Run> {
    const { run } = await unaryCall(this.#client, service.getRun, { runId });
    return run!;
  }

  /** Newest first. */
  listRuns(activeOnly = false): Promise<RunSummary[]> {
    return listRuns(this.#client, activeOnly);
  }

  /** What happens to a run after a revision until it is DONE; resumes by itself when the connection breaks. */
  watchRun(runId: bigint, afterRevision = 0n, signal?: AbortSignal): AsyncGenerator<RunNews, void> {
    return followRun(this.#client, runId, afterRevision, signal ?? new AbortController().signal);
  }

  /** Waits until a run is RUNNING, or DONE because it never was: see its `phase`, and its `cause` for why. */
  async untilRunning(runId: bigint, signal?: AbortSignal): Promise<Run> {
    return (await untilRunning(this.#client, runId, signal ?? new AbortController().signal))!;
  }

  /**
   * What happens to any run, until the loop over it is left or the signal fires; resumes by itself when the connection breaks.
   *
   * @param from default: with the first event kept
   */
  watchEvents(from?: WatchEventsRequest['from'], signal?: AbortSignal): AsyncGenerator<EventNews, void> {
    return followEvents(this.#client, { from }, signal ?? new AbortController().signal);
  }

  /**
   * Answers a prompt with a SERVING run that is RUNNING. The last response has the end: `done`, or the `fault` that took the
   * run along. Leaving the loop, or the signal, cancels the answer in every stage.
   */
  generate(request: DeepPartial<GenerateRequest>, signal?: AbortSignal): AsyncGenerator<GenerateResponse, void> {
    return streamCall(this.#client, service.generate, GenerateRequest.fromPartial(request), signal ? { signal } : {});
  }

  /** The answer of a ONE_SHOT run, from its beginning, and as it comes when it is not whole yet. */
  attach(runId: bigint, signal?: AbortSignal): AsyncGenerator<GenerateResponse, void> {
    return this.generate({ runId, attach: true }, signal);
  }

  /** Asks the run to stop, and does not wait for it; a run that is over stays as it is. */
  async stopRun(runId: bigint): Promise<Run> {
    const { run } = await unaryCall(this.#client, service.stopRun, { runId });
    return run!;
  }

  /** Forgets a run that is DONE. */
  async deleteRun(runId: bigint): Promise<void> {
    await unaryCall(this.#client, service.deleteRun, { runId });
  }

  /** By ascending node id. */
  listNodes(): Promise<Node[]> {
    return listNodes(this.#client);
  }

  /** Gives the connection up, with all that is under way on it. */
  close(): void {
    this.#client.close();
  }
}
