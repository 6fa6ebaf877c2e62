import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StageFeature } from '../../gen/stageplane/v1/node.js';
import {
  type Heartbeat,
  HeldStagePhase,
  type StageReport,
  type SubscribeRequest,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { version } from '../../src/version.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { prepareCommand } from '../worker/prepare-command.js';
import { openBeacon } from './beacon.js';
import { ScriptedOrchestrator } from './scripted-orchestrator.js';
import { oddWorker, provisionOf, startAgent, stopOf } from './start-agent.js';

/** A models folder with one file, `m.gguf`. */
function modelsFolder(): string {
  const folder = join(temporaryFolder(), 'models');
  mkdirSync(folder);
  writeFileSync(join(folder, 'm.gguf'), 'GGUF');
  return folder;
}

describe('an agent', () => {
  it('takes a stage from provision to stopped, and keeps its log', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const models = modelsFolder();
    startAgent(orchestrator.address, { models: [models], labels: { room: 'lab' } });
    const session = await orchestrator.session(1);
    const hello = await session.welcome();
    expect(hello).toMatchObject({ name: 'alpha', clusterId: '', highestEpoch: 0n, held: [], pinnedNodeId: 0n });
    expect(hello.engines).toMatchObject([{ name: 'odd', deviceIds: expect.arrayContaining(['cpu']) }]);
    expect(hello.descriptor).toMatchObject({ labels: { room: 'lab' }, architecture: process.arch });
    expect((await session.hear('heartbeat')).devices[0]).toMatchObject({ deviceId: 'cpu' });

    session.say({ $case: 'provision', value: provisionOf('m.gguf') });
    expect((await session.hear('ack')).deliveryId).toBe(1n);
    expect((await session.hearReport('loading')).reportId).toBe(0n);
    expect((await session.hearReport('ready')).report?.value).toMatchObject({ deviceBytes: 20n });
    // The log has a pipe of its own, so its lines may come later than the report.
    let lines: readonly string[] = [];
    for (let requestId = 1n; lines.length === 0; requestId += 1n) {
      const value = { requestId, runId: 7n, stageIndex: 0, generation: 1, maxLines: 10 };
      session.say({ $case: 'logRequest', value });
      const answer = await session.heard.find(
        (message) => message.$case === 'log' && message.value.requestId === requestId,
      );
      lines = answer.$case === 'log' ? answer.value.lines : [];
    }
    expect(lines).toEqual([`loading ${join(models, 'm.gguf')}`]);

    session.say({ $case: 'stop', value: stopOf() });
    expect(await session.hearReport('stopped')).toMatchObject({ runId: 7n, generation: 1 });
  });

  it('says in its heartbeats what its stages hold, as far as their workers say so', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const workerCommand = oddWorker('counts');
    startAgent(orchestrator.address, { models: [modelsFolder()], workerCommand, workerTimings: { healthEvery: 10 } });
    const session = await orchestrator.session(1);
    session.call.on('data', ({ message }: SubscribeRequest) => {
      if (message?.$case !== 'heartbeat') return;
      session.say({ $case: 'heartbeatAck', value: { sequence: message.value.sequence } });
    });
    await session.welcome({ heartbeatPeriodMillis: 20 });
    session.say({ $case: 'provision', value: provisionOf('m.gguf') });
    const beat = await session.heard.find(({ $case, value }) => $case === 'heartbeat' && value.stages.length > 0);
    const usage = { heldSessions: 2, heldTokens: 30n };
    expect(beat.value).toMatchObject({ stages: [{ runId: 7n, stageIndex: 0, generation: 1, usage }] });
    // It is the node's only worker with a stage, and that stage is in RAM.
    const { stages, devices } = beat.value as Heartbeat;
    expect(stages[0]?.residentBytes).toBeGreaterThan(0n);
    expect(stages[0]?.residentBytes).toBeLessThanOrEqual(devices[0]?.residentBytes ?? 0n);
  });

  it('ends a stage whose engine hangs in a step, although its worker answers', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    // The worker says that it has been busy for 7 ms, each time it is asked.
    const hangs = { workerTimings: { healthEvery: 10 }, stepDeadline: 7 };
    startAgent(orchestrator.address, { models: [modelsFolder()], ...hangs });
    const session = await orchestrator.session(1);
    await session.welcome();
    session.say({ $case: 'provision', value: provisionOf('m.gguf') });
    const { report } = await session.hearReport('fault');
    expect(report?.value).toMatchObject({ reason: StageFaultReason.STAGE_FAULT_REASON_STEP_DEADLINE });
    session.say({ $case: 'stop', value: stopOf() });
    await session.hearReport('stopped');
  });

  it('refuses a model that it does not have', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const models = modelsFolder();
    startAgent(orchestrator.address, { models: [models] });
    const session = await orchestrator.session(1);
    await session.welcome();
    session.say({ $case: 'provision', value: provisionOf('/data/other.gguf') });
    const { status } = await session.hear('nack');
    expect(status?.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_MODEL_NOT_FOUND);
    expect(status?.message).toContain(`/data/other.gguf was not found under ${models}`);
  });

  it('keeps its stages over a broken stream, and says again what was not acknowledged', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const dataFolder = temporaryFolder();
    startAgent(orchestrator.address, { models: [modelsFolder()], dataFolder });
    const first = await orchestrator.session(1);
    await first.welcome();
    first.say({ $case: 'provision', value: provisionOf('m.gguf') });
    const { reportId } = await first.hearReport('ready');
    first.call.end();

    const second = await orchestrator.session(2);
    const hello = await second.welcome();
    expect(hello.held).toMatchObject([{ runId: 7n, phase: HeldStagePhase.HELD_STAGE_PHASE_READY }]);
    expect(hello).toMatchObject({ clusterId: 'c1', highestEpoch: 1n });
    expect((await second.hearReport('ready')).reportId).toBe(reportId);
    expect(JSON.parse(readFileSync(join(dataFolder, 'identity.json'), 'utf8'))).toMatchObject({
      instanceId: hello.instanceId,
      clusterId: 'c1',
      nodeId: '2',
      highestEpoch: '1',
    });
  });

  it('stops its stages, reports them and says Goodbye when it is told to stop', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const agent = startAgent(orchestrator.address, { models: [modelsFolder()] });
    const session = await orchestrator.session(1);
    await session.welcome();
    session.say({ $case: 'provision', value: provisionOf('m.gguf') });
    await session.hearReport('ready');
    expect(await agent.stop('SIGTERM')).toEqual({ kind: 'stopped' });
    await session.ended;
    expect(session.heard.all.slice(-2).map(({ $case }) => $case)).toEqual(['report', 'goodbye']);
  });

  it('obeys a GoAway and comes back', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    startAgent(orchestrator.address);
    const first = await orchestrator.session(1);
    await first.welcome();
    first.say({ $case: 'goAway', value: { retryDelayMillis: 1n, reason: 'upgrade' } });
    await first.ended;
    await (await orchestrator.session(2)).welcome();
  });

  it('stops its workers when the lease is over, and says so in the next session', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    startAgent(orchestrator.address, { models: [modelsFolder()] });
    const first = await orchestrator.session(1);
    await first.welcome();
    first.say({ $case: 'provision', value: provisionOf('m.gguf') });
    await first.hearReport('ready');
    first.call.end();
    await (await orchestrator.session(2)).welcome({ leaseTtlMillis: 1n });
    const third = await orchestrator.session(3);
    await third.welcome();
    await third.hearReport('stopped');
  });
});

describe('a refusal', () => {
  it.each(['NAME_TAKEN', 'FOREIGN_CLUSTER', 'PROTOCOL_MISMATCH', 'NODE_ID_TAKEN'])(
    '%s ends an agent that was never welcomed',
    async (reason) => {
      const orchestrator = await ScriptedOrchestrator.open();
      const agent = startAgent(orchestrator.address);
      (await orchestrator.session(1)).refuse(reason, 'start it otherwise');
      expect(await agent.done).toEqual({ kind: 'refused', message: 'start it otherwise' });
    },
  );

  it('of an agent that was welcomed once is tried again for ever', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    startAgent(orchestrator.address);
    const first = await orchestrator.session(1);
    await first.welcome();
    first.call.end();
    (await orchestrator.session(2)).refuse('NAME_TAKEN', 'start it otherwise');
    await (await orchestrator.session(3)).welcome();
  });
});

describe('a start', () => {
  it('with a damaged identity says what to do, and leaves the file alone', async () => {
    const dataFolder = temporaryFolder();
    writeFileSync(join(dataFolder, 'identity.json'), '{"instanceId": "x"');
    const agent = startAgent('127.0.0.1:1', { dataFolder });
    expect(await agent.done).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is damaged: restore it'),
    });
    expect(readFileSync(join(dataFolder, 'identity.json'), 'utf8')).toBe('{"instanceId": "x"');
  });

  it('in a folder that another agent uses is refused', async () => {
    const dataFolder = temporaryFolder();
    const orchestrator = await ScriptedOrchestrator.open();
    startAgent(orchestrator.address, { dataFolder });
    await (await orchestrator.session(1)).welcome();
    const clone = startAgent(orchestrator.address, { dataFolder });
    expect(await clone.done).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('uses the data folder'),
    });
  });

  it('with --rejoin forgets the cluster, but not who it is', async () => {
    const dataFolder = temporaryFolder();
    const identity = { instanceId: 'i1', clusterId: 'old', nodeId: '9', highestEpoch: '77' };
    writeFileSync(join(dataFolder, 'identity.json'), JSON.stringify(identity));
    const orchestrator = await ScriptedOrchestrator.open();
    startAgent(orchestrator.address, { dataFolder, rejoin: true });
    const hello = await (await orchestrator.session(1)).welcome();
    expect(hello).toMatchObject({ instanceId: 'i1', clusterId: '', highestEpoch: 0n });
  });

  it.each([
    ['a worker that is not there', { workerCommand: ['/nowhere/worker'] }, '"/nowhere/worker"'],
    ['a worker that ends at once', { workerCommand: oddWorker('exits') }, 'cannot find my library'],
    ['a name that is no label', { name: 'My PC' }, '"My PC" is no node name'],
    ["the orchestrator's own id", { nodeId: 1n }, 'start at 2'],
    ['no address', { orchestrator: [] }, '--orchestrator'],
  ])('with %s is refused', async (_, config, words) => {
    const agent = startAgent('127.0.0.1:1', config);
    expect(await agent.done).toMatchObject({ kind: 'refused', message: expect.stringContaining(words) });
  });

  it('with a file where the logs belong is refused, and leaves no worker', async () => {
    const dataFolder = temporaryFolder();
    writeFileSync(join(dataFolder, 'logs'), '');
    const agent = startAgent('127.0.0.1:1', { dataFolder });
    expect(await agent.done).toMatchObject({ kind: 'refused', message: expect.stringContaining(`${dataFolder}/logs`) });
  });

  it('can be stopped while its worker has yet to say hello', async () => {
    const agent = startAgent('127.0.0.1:1', { workerCommand: oddWorker('hangs'), workerTimings: { hello: 3_600_000 } });
    expect(await agent.stop()).toEqual({ kind: 'stopped' });
  });

  it('can be stopped before anyone has answered', async () => {
    const agent = startAgent('127.0.0.1:1');
    expect(await agent.stop()).toEqual({ kind: 'stopped' });
  });
});

const compiled = fileURLToPath(new URL('../../dist/src/agent/agent.js', import.meta.url));

describe.skipIf(!existsSync(compiled))('an agent process', () => {
  it('loads a stage with our own worker, which was waiting for it', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const folder = temporaryFolder();
    await writeTinyModel(join(folder, 'tiny.gguf'));
    startAgent(orchestrator.address, { models: [folder], workerCommand: undefined, warmWorkers: 1 });
    const session = await orchestrator.session(1);
    const hello = await session.welcome();
    expect(hello.engines).toContainEqual({
      name: 'fixture',
      build: `stageplane ${version}, fixture 1`,
      features: [StageFeature.STAGE_FEATURE_SAMPLING],
      deviceIds: ['cpu'],
    });
    const { provision, settings } = prepareCommand({ modelPath: '', totalLayers: 8, hiddenDim: 64, layers: [0, 4] });
    const delivery = provisionOf('tiny.gguf');
    const ggufSource = delivery.stages[0]!.provision!.ggufSource;
    const stages = [{ provision: { ...provision!, ggufSource }, settings: settings!, producerNodeId: 1n }];
    session.say({ $case: 'provision', value: { ...delivery, stages } });
    const { report } = await session.heard
      .find(({ $case, value }) => $case === 'report' && ['ready', 'fault'].includes(value.report?.$case ?? ''))
      .then(({ value }) => value as StageReport);
    expect(report).toMatchObject({ $case: 'ready', value: { bytesDigest: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  });

  it('that is killed leaves no worker behind (I18)', async () => {
    const beacon = await openBeacon();
    const orchestrator = await ScriptedOrchestrator.open();
    vi.stubEnv('STAGEPLANE_WORKER_BEACON', String(beacon.port));
    onTestFinished(() => void vi.unstubAllEnvs());
    const program = fileURLToPath(new URL('fixtures/agent-process.mjs', import.meta.url));
    const args = [program, orchestrator.address, temporaryFolder(), modelsFolder(), ...oddWorker('good')];
    const agent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void agent.kill('SIGKILL'));
    const session = await orchestrator.session(1);
    await session.welcome();
    session.say({ $case: 'provision', value: provisionOf('m.gguf') });
    await session.hearReport('ready');
    const up = await beacon.signs.find((sign) => sign.startsWith('up stage'));
    agent.kill('SIGKILL');
    await beacon.signs.find((sign) => sign === up.replace('up', 'down'));
  });

  it('ends with the sentence of a refusal', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const program = fileURLToPath(new URL('fixtures/agent-process.mjs', import.meta.url));
    const args = [program, orchestrator.address, temporaryFolder(), modelsFolder(), ...oddWorker('good')];
    const agent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void agent.kill('SIGKILL'));
    const line = new Promise((resolve) => createInterface({ input: agent.stdout }).once('line', resolve));
    (await orchestrator.session(1)).refuse('NAME_TAKEN', 'choose another name');
    expect(await line).toBe('{"kind":"refused","message":"choose another name"}');
  });
});
