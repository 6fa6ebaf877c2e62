import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { leftovers } from '../../src/demo/leftovers.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { type TinyModelOptions, writeTinyModel } from '../../src/gguf/tiny-model.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { packageRoot } from '../../src/package-root.js';
import { descendantsOf } from '../../src/process/descendants.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
const gatedWorker = join(import.meta.dirname, 'gated-worker.mjs');
const ownWorker = join(packageRoot(), 'dist', 'src', 'worker', 'main.js');

export interface ClusterOptions {
  /** Of the orchestrator. */
  readonly flags?: readonly string[];
  /** Of each agent. */
  readonly agentFlags?: readonly string[];
  /** A GGUF file; default: a tiny one. */
  readonly model?: string;
  /** `afterAll` or `afterFile()` keeps it for all tests of a file. */
  readonly finished?: (end: () => void | Promise<void>) => void;
  /** What the tiny one is like. */
  readonly tiny?: TinyModelOptions;
  /** Our own stage workers; default: workers that wait at the gate. */
  readonly ownWorkers?: boolean;
}

interface AgentOptions extends Pick<ClusterOptions, 'ownWorkers'> {
  readonly flags?: readonly string[] | undefined;
  /** Where it looks for the orchestrator; default: where that is. */
  readonly orchestrator?: string;
}

async function makeModel(folder: string, tiny: TinyModelOptions | undefined): Promise<string> {
  mkdirSync(join(folder, 'models'));
  const [path] = await writeTinyModel(join(folder, 'models', 'tiny.gguf'), tiny);
  return path;
}

/** An orchestrator and agents as real processes; every one of them is gone when the test is. */
export class Cluster {
  /** Where its processes put the sockets of their edges. */
  readonly runtimeFolder: string;
  address = '127.0.0.1:0';
  /** `host:port` of HTTP. */
  http = '127.0.0.1:0';
  /** Empty where the flags say `--http off`. */
  httpUrl = '';
  client!: OrchestratorServiceClient;
  model = '';
  private readonly processes = new Map<string, ChildProcess>();
  private readonly agents = new Set<string>();

  private constructor(
    readonly folder: string,
    private readonly ownWorkers: boolean,
  ) {
    this.runtimeFolder = join(folder, 'run');
    mkdirSync(this.runtimeFolder);
  }

  static async start(agents: readonly string[], options: ClusterOptions = {}): Promise<Cluster> {
    const { finished = onTestFinished, ownWorkers = false } = options;
    const cluster = new Cluster(temporaryFolder(finished), ownWorkers);
    finished(async () => void (await cluster.end()));
    cluster.model = options.model ?? (await makeModel(cluster.folder, options.tiny));
    await cluster.startOrchestrator(options.flags);
    for (const name of agents) cluster.startAgent(name, { flags: options.agentFlags });
    await nodesReady(cluster.client, agents.length);
    return cluster;
  }

  /** @param environment what it has beside this process's own */
  async startOrchestrator(
    flags: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const data = join(this.folder, 'orchestrator');
    const args = ['orchestrator', '--listen', this.address, '--data', data, '--json', '--http', this.http, ...flags];
    const { address, httpUrl = '' } = JSON.parse(await this.firstLine(this.spawn('orchestrator', args, environment)));
    this.address = address;
    this.httpUrl = httpUrl;
    if (httpUrl) this.http = new URL(httpUrl).host;
    this.client ??= dial(this.address, OrchestratorServiceClient);
  }

  startAgent(name: string, options: AgentOptions = {}): void {
    const { ownWorkers = this.ownWorkers, flags = [], orchestrator = this.address } = options;
    this.agents.add(name);
    const args = ['agent', '--orchestrator', orchestrator, '--name', name, '--data', join(this.folder, name)];
    args.push('--models', dirname(this.model), ...flags);
    const gated = `${process.execPath} ${gatedWorker} ${this.gateOf(name)} ${this.diaryOf(name)} ${ownWorker}`;
    this.spawn(name, ownWorkers ? args : [...args, '--worker', gated]);
  }

  /** Lets the workers of these agents prepare; without a word, those of all. */
  openGate(...names: readonly string[]): void {
    for (const name of names.length > 0 ? names : this.agents) writeFileSync(this.gateOf(name), '');
  }

  /** Workers that get a stage from now on wait at the gate. */
  closeGate(): void {
    for (const name of this.agents) rmSync(this.gateOf(name), { force: true });
  }

  /** Process ids of every worker that ever got a stage of an agent. */
  workersOf(name: string): number[] {
    const diary = this.diaryOf(name);
    return existsSync(diary) ? readFileSync(diary, 'utf8').trim().split('\n').map(Number) : [];
  }

  /** Process id of a stage's worker, one of our own, as its log has it. */
  async workerOf(runId: bigint, stageIndex: number): Promise<number> {
    const { lines } = await unaryCall(this.client, Service.getStageLog, { runId, stageIndex, maxLines: 1000 });
    return JSON.parse(lines[0] ?? '{}').pid ?? -1;
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

  /** Process ids of the token endpoints that live. */
  endpoints(): number[] {
    return descendantsOf(this.pid('orchestrator'));
  }

  pid(name: string): number {
    return this.processes.get(name)?.pid ?? -1;
  }

  /** Resolves with the signal or exit code of a process that ends by itself. */
  async gone(name: string): Promise<string> {
    const child = this.processes.get(name)!;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    this.processes.delete(name);
    return String(child.signalCode ?? child.exitCode);
  }

  async kill(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.processes.get(name);
    if (!child) return;
    this.processes.delete(name);
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Stops everything in good order; gives the processes, sockets and own folders that were left. */
  async end(): Promise<string[]> {
    const started = [...this.processes.keys()];
    const pids = [...descendantsOf(process.pid), ...started.flatMap((name) => this.workersOf(name))];
    for (const name of started.reverse()) await this.kill(name, 'SIGTERM');
    this.client?.close();
    // The test runner's own children are none of ours.
    const own = new Set(descendantsOf(process.pid));
    const gone = pids.filter((pid) => !own.has(pid));
    return [...leftovers(this.folder, gone), ...this.ownFolders()];
  }

  /** Folders that belong to one process; the one in which the nodes meet stays. */
  private ownFolders(): string[] {
    if (!existsSync(this.runtimeFolder)) return [];
    const names = readdirSync(this.runtimeFolder, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => basename(name).startsWith('own-')).map((name) => `folder ${name}`);
  }

  private gateOf(name: string): string {
    return join(this.folder, `${name}.gate`);
  }

  private diaryOf(name: string): string {
    return join(this.folder, `${name}.workers`);
  }

  private spawn(
    name: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): ChildProcess {
    const stderr = process.env.TEST_LOG ? 'inherit' : 'ignore';
    const env = { ...process.env, XDG_RUNTIME_DIR: this.runtimeFolder, ...environment };
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', stderr], env });
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
