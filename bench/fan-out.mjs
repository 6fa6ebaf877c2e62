// How fast one orchestrator pushes provisions to many agents and takes in their answers, against bare acknowledgements
// on the same streams. Everything runs in this process on loopback; figures are ratios of one run, never pass or fail.
//
//   npm run bench:fanout -- --agents 500
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { NodeAgentServiceClient } from '../dist/gen/stageplane/v1/node_agent_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../dist/gen/stageplane/v1/orchestrator_service.js';
import { defaultTimings } from '../dist/src/core/machine/timings.js';
import { dial, unaryCall } from '../dist/src/grpc/client.js';
import { sessionOptions } from '../dist/src/grpc/client-options.js';
import { startOrchestrator } from '../dist/src/orchestrator/orchestrator.js';

const { values } = parseArgs({
  options: { agents: { type: 'string', default: '200' }, rounds: { type: 'string', default: '5' } },
});
const count = Math.min(Number(values.agents), 512);
const rounds = Number(values.rounds);

const folder = mkdtempSync(join(tmpdir(), 'stageplane-bench-'));
const logger = pino({ level: 'silent' });
const orchestrator = await startOrchestrator({
  listen: '127.0.0.1:0',
  dataFolder: folder,
  models: [],
  insecure: false,
  timings: defaultTimings,
  // These agents have no stages, and so no edges.
  tokenEndpoints: (post) => ({
    open: ({ runId, generation }) => post({ kind: 'token-endpoint-ready', runId, generation }),
    close: () => {},
    beginAnswer: () => {},
    find: () => undefined,
    stop: async () => {},
  }),
  logger,
});
const launcher = dial(orchestrator.address, OrchestratorServiceClient);

class Agent {
  waiting = [];
  reports = 0n;
  constructor(name) {
    this.client = dial(orchestrator.address, NodeAgentServiceClient, sessionOptions);
    this.stream = this.client.subscribe();
    this.stream.on('error', () => {});
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
      engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'] }],
      descriptor: {
        machine: name,
        operatingSystem: 'linux',
        architecture: 'x64',
        physicalCores: 1,
        agentVersion: '',
        devices: [],
        labels: {},
      },
    });
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
      this.say('heartbeat', { sequence: 1n, devices: [] });
    });
  }
}

const source = { source: { $case: 'localPath', value: 'bench.gguf' } };
const facts = {
  modelId: 'bench',
  ggufSource: source,
  numLayers: count,
  hiddenDim: 64n,
  dtypeFamily: 2,
  dtypeWidthBytes: 4n,
  maxSeqLen: 128n,
  eosTokenId: 2,
  tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
};

async function wholeRun(round) {
  const started = performance.now();
  const { outcome } = await unaryCall(launcher, Service.createRun, {
    requestId: `bench-${round}`,
    plan: { model: source, facts, mode: 0, stageCount: count },
  });
  if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
  const { runId } = outcome.value;
  const phase = (wanted) =>
    new Promise((resolve, reject) => {
      const watch = launcher.watchRun({ runId, afterRevision: 0n });
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
  const running = await phase(3);
  await unaryCall(launcher, Service.stopRun, { runId });
  const done = await phase(5);
  return { up: running - started, down: done - running };
}

async function echoes(agents) {
  const started = performance.now();
  // As many messages each way as a run takes: provision, ack, ready and its ack.
  await Promise.all(agents.flatMap((agent) => [agent.echo(), agent.echo()]));
  return performance.now() - started;
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

const joinStarted = performance.now();
const agents = Array.from({ length: count }, (_, at) => new Agent(`agent-${at}`));
await Promise.all(agents.map(({ joined }) => joined));
const join1 = performance.now() - joinStarted;
const runs = [];
const bare = [];
for (let round = 0; round < rounds; round++) {
  bare.push(await echoes(agents));
  runs.push(await wholeRun(round));
}
const up = median(runs.map((run) => run.up));
const down = median(runs.map((run) => run.down));
const echo = median(bare);
console.log(`${count} agents on ${count} connections, medians of ${rounds} rounds`);
console.log(
  `join, committed and reconciled     ${join1.toFixed(0)} ms, ${((join1 / count) * 1000).toFixed(0)} us each`,
);
console.log(
  `create until RUNNING               ${up.toFixed(0)} ms, ${(up / echo).toFixed(2)}x two bare echoes each (${echo.toFixed(0)} ms)`,
);
console.log(`stop until DONE                    ${down.toFixed(0)} ms, ${(down / echo).toFixed(2)}x`);
for (const agent of agents) agent.client.close();
launcher.close();
await orchestrator.stop();
rmSync(folder, { recursive: true, force: true });
