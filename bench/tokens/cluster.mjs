// An orchestrator and three agents as real processes, and what a launcher does with them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GenerateRequest,
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../dist/gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../dist/gen/stageplane/v1/plan.js';
import { StageSettings } from '../../dist/gen/stageplane/v1/provision.js';
import { RunPhase } from '../../dist/gen/stageplane/v1/run.js';
import { nodesReady, runReaches } from '../../dist/src/demo/wait-for.js';
import { dial, streamCall, unaryCall } from '../../dist/src/grpc/client.js';
import { packageRoot } from '../../dist/src/package-root.js';
import { descendantsOf, isAlive } from '../../dist/src/process/descendants.js';

const AGENTS = ['alpha', 'beta', 'gamma'];
const LOOK_MILLIS = 2;
const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');

export class Cluster {
  /** @type {any} */
  client;
  model;
  runtimeFolder;
  #daemons = [];
  #runs = 0;

  static async start(folder, model) {
    const cluster = new Cluster();
    cluster.model = model;
    // Sockets of this cluster alone.
    cluster.runtimeFolder = join(folder, 'run');
    const orchestrator = cluster.#spawn(
      'orchestrator',
      '--listen',
      '127.0.0.1:0',
      '--data',
      join(folder, 'o'),
      '--json',
    );
    const [line] = await once(createInterface({ input: orchestrator.stdout }), 'line');
    const { address } = JSON.parse(line);
    cluster.client = dial(address, OrchestratorServiceClient);
    for (const name of AGENTS) {
      const models = dirname(model.path);
      cluster.#spawn(
        'agent',
        '--orchestrator',
        address,
        '--name',
        name,
        '--data',
        join(folder, name),
        '--models',
        models,
      );
    }
    await nodesReady(cluster.client, AGENTS.length);
    return cluster;
  }

  /** A run of one stage for each agent that is RUNNING, with the settings that it gets when nobody asks for any. */
  async serve() {
    /** @type {import('../../dist/gen/stageplane/v1/model.js').GgufSource} */
    const model = { source: { $case: 'localPath', value: this.model.path } };
    const settings = StageSettings.fromPartial({ engine: 'llama.cpp' });
    this.#runs += 1;
    const plan = { model, mode: 0, stageCount: AGENTS.length, settings };
    const { outcome } = await unaryCall(this.client, Service.createRun, { requestId: `bench-${this.#runs}`, plan });
    if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
    const { runId } = outcome.value;
    await runReaches(this.client, { runId, revision: 0n }, RunPhase.RUN_PHASE_RUNNING, () => {});
    return (await unaryCall(this.client, Service.getRun, { runId })).run;
  }

  /** Generates; gives when each token came, in milliseconds. `onToken` may cancel. Returns when the answer or its run is over. */
  async answer({ runId }, { messages, maxTokens }, onToken) {
    const caller = new AbortController();
    const request = GenerateRequest.fromPartial({ runId, messages, runtime: RuntimeConfig.fromPartial({ maxTokens }) });
    const at = [];
    try {
      for await (const { tokenIds } of streamCall(this.client, Service.generate, request, { signal: caller.signal })) {
        for (const _ of tokenIds) {
          at.push(performance.now());
          onToken(at.length, () => caller.abort());
        }
      }
    } catch (error) {
      if (!caller.signal.aborted) throw error;
    }
    return at;
  }

  /** Returns when a run is DONE: only then its nodes take the next one. */
  async ended({ runId }) {
    for await (const _ of streamCall(this.client, Service.watchRun, { runId, afterRevision: 0n }));
  }

  /** Ids of the processes that a run has: one of each stage, and its token endpoint. */
  processesOf({ runId, stages }) {
    const agents = stages.map(({ stageIndex }) => {
      const socket = this.#sockets().find((name) => name.includes(`-${runId}-${stageIndex}-`));
      return Number(socket.split('-')[0]);
    });
    const orchestrator = this.#daemons[0].pid;
    // Workers that wait for a stage hold no layers.
    return { stages: agents.map((agent) => largest(descendantsOf(agent))), endpoints: descendantsOf(orchestrator) };
  }

  /** Resolves when none of the processes lives and no socket of the run is left. */
  async gone({ runId }, pids) {
    const isOfRun = (name) => new RegExp(`-${runId}-\\d+-\\d+\\.sock$`).test(name);
    while (pids.some(isAlive) || this.#sockets().some(isOfRun)) await sleep(LOOK_MILLIS);
  }

  async end() {
    this.client?.close();
    for (const daemon of this.#daemons.toReversed()) {
      daemon.kill('SIGTERM');
      if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
    }
  }

  #spawn(...args) {
    const env = { ...process.env, XDG_RUNTIME_DIR: this.runtimeFolder };
    const daemon = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'], env });
    this.#daemons.push(daemon);
    return daemon;
  }

  #sockets() {
    const entries = readdirSync(this.runtimeFolder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isSocket()).map(({ name }) => name);
  }
}

function largest(pids) {
  const residentOf = (pid) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return pids.toSorted((a, b) => residentOf(b) - residentOf(a))[0];
}
