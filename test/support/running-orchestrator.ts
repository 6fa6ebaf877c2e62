import pino from 'pino';
import { onTestFinished } from 'vitest';
import type { WatchRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, RunPhase } from '../../gen/stageplane/v1/run.js';
import { defaultTimings, type Timings } from '../../src/core/machine/timings.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { type Orchestrator, startOrchestrator } from '../../src/orchestrator/orchestrator.js';
import { readyEndpoints } from './ready-endpoints.mjs';
import { temporaryFolder } from './temporary-folder.js';

export interface RunningOrchestrator extends Orchestrator {
  readonly client: OrchestratorServiceClient;
  readonly dataFolder: string;
}

interface Options {
  readonly dataFolder?: string;
  readonly listen?: string;
  readonly http?: string;
  readonly isHttpOptional?: boolean;
  readonly models?: readonly string[];
  readonly timings?: Partial<Timings>;
  /** Real token endpoints; without them they are ready at once, as stages of scripted agents have no edges. */
  readonly realEndpoints?: boolean;
}

/** A real orchestrator on a free port, stopped with the test. */
export async function runOrchestrator(options: Options = {}): Promise<RunningOrchestrator> {
  const dataFolder = options.dataFolder ?? temporaryFolder();
  const orchestrator = await startOrchestrator({
    listen: options.listen ?? '127.0.0.1:0',
    http: options.http,
    isHttpOptional: options.isHttpOptional ?? false,
    dataFolder,
    models: options.models ?? [],
    insecure: false,
    timings: { ...defaultTimings, ...options.timings },
    tokenEndpoints: options.realEndpoints ? undefined : readyEndpoints,
    logger: pino({ level: process.env.TEST_LOG ?? 'silent' }),
  });
  const client = dial(orchestrator.address, OrchestratorServiceClient);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    client.close();
    stopped ??= orchestrator.stop();
    return stopped;
  };
  onTestFinished(stop);
  return { ...orchestrator, stop, client, dataFolder };
}

export async function getRun(client: OrchestratorServiceClient, runId: bigint): Promise<Run> {
  const { run } = await unaryCall(client, Service.getRun, { runId });
  return run!;
}

/** Follows a run until it is in a phase; gives what the watch said until then. */
export async function watchUntil(
  client: OrchestratorServiceClient,
  runId: bigint,
  phase: RunPhase,
  afterRevision = 0n,
): Promise<WatchRunResponse[]> {
  const seen: WatchRunResponse[] = [];
  for await (const response of streamCall(client, Service.watchRun, { runId, afterRevision })) {
    seen.push(response);
    const { update } = response;
    if (update?.$case !== 'event' || update.value.detail?.$case !== 'runPhase') continue;
    if (update.value.detail.value.phase === phase) return seen;
  }
  throw new Error(`run ${runId} was never ${RunPhase[phase]}`);
}
