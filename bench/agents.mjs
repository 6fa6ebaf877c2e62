// Agents that have no stages and say at once what real ones say late, for the benchmarks of the orchestrator alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { NodeAgentServiceClient } from '../dist/gen/stageplane/v1/node_agent_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../dist/gen/stageplane/v1/orchestrator_service.js';
import { defaultTimings } from '../dist/src/core/machine/timings.js';
import { dial, unaryCall } from '../dist/src/grpc/client.js';
import { clientOptions, sessionOptions } from '../dist/src/grpc/client-options.js';
import { startOrchestrator } from '../dist/src/orchestrator/orchestrator.js';
import { readyEndpoints } from '../test/support/ready-endpoints.mjs';

/**
 * A real orchestrator on a free port; `prepare` gets its data folder before it starts.
 *
 * @param {(dataFolder: string) => Promise<unknown>} [prepare]
 * @param {{ http?: string }} [options]
 */
export async function openOrchestrator(prepare = async () => {}, { http } = {}) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'stageplane-bench-'));
  await prepare(dataFolder);
  const orchestrator = await startOrchestrator({
    listen: '127.0.0.1:0',
    http,
    dataFolder,
    models: [],
    insecure: false,
    timings: defaultTimings,
    // These agents have no stages, and so no edges.
    tokenEndpoints: /** @type {any} */ (readyEndpoints),
    logger: pino({ level: 'silent' }),
  });
  const stop = async () => {
    await orchestrator.stop();
    rmSync(dataFolder, { recursive: true, force: true });
  };
  return { ...orchestrator, dataFolder, stop };
}

/** One session; `joined` resolves when it is reconciled. */
export class Agent {
  waiting = [];
  reports = 0n;
  constructor(address, name, credentials, devices = []) {
    this.client = dial(address, NodeAgentServiceClient, sessionOptions, credentials);
    this.stream = this.client.subscribe();
    // A session that fails before it is closed would only be waited for.
    this.stream.on('error', (error) => {
      if (!this.closed) throw error;
    });
    this.stream.on('data', ({ message }) => this.take(message));
    this.joined = new Promise((resolve) => {
      this.reconciled = resolve;
    });
    this.say('hello', {
      name,
      instanceId: name,
      processId: name,
      clusterId: '',
      highestEpoch: 0n,
      protocolMin: 1,
      protocolMax: 1,
      held: [],
      pinnedNodeId: 0n,
      engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features: [] }],
      descriptor: {
        machine: name,
        operatingSystem: 'linux',
        architecture: 'x64',
        physicalCores: 1,
        agentVersion: '',
        devices,
        labels: {},
      },
    });
  }
  close() {
    this.closed = true;
    this.client.close();
  }
  say($case, value) {
    this.stream.write({ message: { $case, value } });
  }
  report(key, $case, value) {
    this.reports += 1n;
    this.say('report', { reportId: this.reports, ...key, report: { $case, value } });
  }
  take(message) {
    switch (message?.$case) {
      case 'reconciled':
        return this.reconciled();
      case 'heartbeatAck':
        return this.waiting.shift()?.();
      case 'provision':
        this.say('ack', { deliveryId: message.value.deliveryId });
        for (const {
          provision: { runId, stageIndex },
        } of message.value.stages) {
          const key = { runId, stageIndex, generation: message.value.generation };
          this.report(key, 'ready', { bytesRead: 0n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n });
        }
        return;
      case 'stop': {
        const { runId, stageIndex, generation } = message.value;
        return this.report({ runId, stageIndex, generation }, 'stopped', {});
      }
    }
  }
  echo() {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.say('heartbeat', { sequence: 1n, devices: [], stages: [] });
    });
  }
}

/** @type {import('../dist/gen/stageplane/v1/model.js').GgufSource} */
const source = { source: { $case: 'localPath', value: 'bench.gguf' } };

/** Asks for runs, one stage on each of their nodes. */
export class Launcher {
  constructor(address, credentials) {
    this.client = dial(address, OrchestratorServiceClient, clientOptions, credentials);
  }
  close() {
    this.client.close();
  }
  phase(runId, wanted) {
    return new Promise((resolve, reject) => {
      const watch = this.client.watchRun({ runId, afterRevision: 0n });
      watch.on('error', reject);
      watch.on('data', ({ update }) => {
        if (
          update?.$case !== 'event' ||
          update.value.detail?.value.phase !== wanted ||
          update.value.detail.$case !== 'runPhase'
        )
          return;
        watch
          .removeAllListeners('error')
          .on('error', () => {})
          .cancel();
        resolve(performance.now());
      });
    });
  }
  async wholeRun(round, stageCount) {
    /** @type {import('../dist/gen/stageplane/v1/model.js').ModelFacts} */
    const facts = {
      modelId: 'bench',
      ggufSource: source,
      numLayers: stageCount,
      hiddenDim: 64n,
      dtypeFamily: 2,
      dtypeWidthBytes: 4n,
      maxSeqLen: 128n,
      eosTokenId: 2,
      tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
    };
    const started = performance.now();
    const { outcome } = await unaryCall(this.client, Service.createRun, {
      requestId: `bench-${round}`,
      plan: { model: source, facts, mode: 0, stageCount },
    });
    if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
    const { runId } = outcome.value;
    const running = await this.phase(runId, 3);
    await unaryCall(this.client, Service.stopRun, { runId });
    const done = await this.phase(runId, 5);
    return { up: running - started, down: done - running };
  }
}

export async function echoes(agents) {
  const started = performance.now();
  // As many messages each way as a run takes: provision, ack, ready and its ack.
  await Promise.all(agents.flatMap((agent) => [agent.echo(), agent.echo()]));
  return performance.now() - started;
}
