import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { packageRoot } from '../../src/package-root.js';
import { descendantsOf, isAlive } from '../../src/process/descendants.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
const gatedWorker = join(import.meta.dirname, 'gated-worker.mjs');
const ownWorker = join(packageRoot(), 'dist', 'src', 'worker', 'main.js');

/** Takes what is to be done in the end. */
type Finished = (end: () => unknown) => void;

const withTheTest: Finished = (end) => onTestFinished(async () => void (await end()));

export interface ClusterOptions {
  /** Of the orchestrator. */
  readonly flags?: readonly string[];
  /** Of each agent. */
  readonly agentFlags?: readonly string[];
  /** A GGUF file; default: a tiny one. */
  readonly model?: string;
  /** Our own stage workers; default: workers that wait at the gate. */
  readonly ownWorkers?: boolean;
  /** `afterFile()` keeps it for all tests of a file. */
  readonly finished?: Finished;
}

interface AgentOptions extends Pick<ClusterOptions, 'ownWorkers'> {
  readonly flags?: readonly string[] | undefined;
}

async function makeModel(folder: string): Promise<string> {
  mkdirSync(join(folder, 'models'));
  const [path] = await writeTinyModel(join(folder, 'models', 'tiny.gguf'));
  return path;
}

/** An orchestrator and agents as real processes; every one of them is gone when the test is. */
export class Cluster {
  readonly folder: string;
  readonly gate: string;
  address = '127.0.0.1:0';
  client!: OrchestratorServiceClient;
  model = '';
  private readonly processes = new Map<string, ChildProcess>();

  private constructor(
    private readonly ownWorkers: boolean,
    finished: Finished,
  ) {
    this.folder = temporaryFolder(finished);
    this.gate = join(this.folder, 'gate');
  }

  static async start(agents: readonly string[], options: ClusterOptions = {}): Promise<Cluster> {
    const finished = options.finished ?? withTheTest;
    const cluster = new Cluster(options.ownWorkers ?? false, finished);
    finished(() => cluster.end());
    cluster.model = options.model ?? (await makeModel(cluster.folder));
    await cluster.startOrchestrator(options.flags);
    for (const name of agents) cluster.startAgent(name, { flags: options.agentFlags });
    await nodesReady(cluster.client, agents.length);
    return cluster;
  }

  async startOrchestrator(flags: readonly string[] = []): Promise<void> {
    const data = join(this.folder, 'orchestrator');
    const args = ['orchestrator', '--listen', this.address, '--data', data, '--json', ...flags];
    const { address } = JSON.parse(await this.firstLine(this.spawn('orchestrator', args)));
    this.address = address;
    this.client ??= dial(this.address, OrchestratorServiceClient);
  }

  startAgent(name: string, { ownWorkers = this.ownWorkers, flags = [] }: AgentOptions = {}): void {
    const args = ['agent', '--orchestrator', this.address, '--name', name, '--data', join(this.folder, name)];
    args.push('--models', dirname(this.model), ...flags);
    const gated = `${process.execPath} ${gatedWorker} ${this.gate} ${this.diaryOf(name)} ${ownWorker}`;
    this.spawn(name, ownWorkers ? args : [...args, '--worker', gated]);
  }

  openGate(): void {
    writeFileSync(this.gate, '');
  }

  /** Process ids of every worker that ever got a stage of an agent. */
  workersOf(name: string): number[] {
    const diary = this.diaryOf(name);
    return existsSync(diary) ? readFileSync(diary, 'utf8').trim().split('\n').map(Number) : [];
  }

  /** Creates a run of the fixture engine, unless the settings name another. */
  async create(
    requestId: string,
    stageCount: number,
    settings: Partial<StageSettings> = {},
    more: Partial<PlanRequest> = {},
  ): Promise<bigint> {
    const model = { source: { $case: 'localPath', value: this.model } } as const;
    const asked = StageSettings.fromPartial({ engine: 'fixture', ...settings });
    const plan: PlanRequest = { model, mode: 0, stageCount, settings: asked, ...more };
    const { outcome } = await unaryCall(this.client, Service.createRun, { requestId, plan });
    if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
    return outcome.value.runId;
  }

  pid(name: string): number {
    return this.processes.get(name)?.pid ?? -1;
  }

  async kill(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.processes.get(name);
    if (!child) return;
    this.processes.delete(name);
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Stops everything in good order; gives the processes that were left. */
  async end(): Promise<number[]> {
    const started = [...this.processes.keys()];
    const pids = [...descendantsOf(process.pid), ...started.flatMap((name) => this.workersOf(name))];
    for (const name of started.reverse()) await this.kill(name, 'SIGTERM');
    this.client?.close();
    // The test runner's own children are none of ours.
    const own = new Set(descendantsOf(process.pid));
    return pids.filter((pid) => isAlive(pid) && !own.has(pid));
  }

  private diaryOf(name: string): string {
    return join(this.folder, `${name}.workers`);
  }

  private spawn(name: string, args: readonly string[]): ChildProcess {
    const stderr = process.env.TEST_LOG ? 'inherit' : 'ignore';
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', stderr] });
    this.processes.set(name, child);
    return child;
  }

  private async firstLine(child: ChildProcess): Promise<string> {
    const lines = createInterface({ input: child.stdout! });
    const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
    if (typeof line !== 'string') throw new Error('the process ended without a word');
    return line;
  }
}
