import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ProvisionDelivery, StageReport } from '../../gen/stageplane/v1/node_agent_service.js';
import { LoadProgress_Phase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { AgentConfig } from '../../src/agent/agent.js';
import { type EdgeFlags, openNodeGateway } from '../../src/edge-gateway/open-node-gateway.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { register } from '../edge-gateway/edge-ends.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { TokenEndpoint } from '../worker/edge/token-endpoint.js';
import { PlannedStages } from './planned-stages.js';
import { ScriptedOrchestrator, type ScriptedSession } from './scripted-orchestrator.js';
import { oddWorker, provisionOf, startAgent } from './start-agent.js';

const CLUSTER = 'c0ffee00-1111-4222-8333-444444444444';
const compiled = fileURLToPath(new URL('../../dist/src/agent/agent.js', import.meta.url));
let runtime: string;

beforeEach(() => {
  runtime = temporaryFolder();
  vi.stubEnv('XDG_RUNTIME_DIR', runtime);
  return () => void vi.unstubAllEnvs();
});

async function modelsFolder(): Promise<string> {
  const folder = temporaryFolder();
  await writeTinyModel(join(folder, 'tiny.gguf'));
  return folder;
}

/** An agent with our own worker, welcomed as this node. */
async function joined(
  orchestrator: ScriptedOrchestrator,
  nodeId: bigint,
  config: Partial<AgentConfig>,
): Promise<ScriptedSession> {
  const number = orchestrator.sessions.length + 1;
  startAgent(orchestrator.address, { workerCommand: undefined, warmWorkers: 0, ...config });
  const session = await orchestrator.session(number);
  await session.welcome({ clusterId: CLUSTER, nodeId });
  return session;
}

/** A report of this stage, heard or to come. */
async function reportOf(session: ScriptedSession, stage: number, wanted: (report: StageReport) => boolean) {
  const found = await session.heard.find(
    ({ $case, value }) => $case === 'report' && value.stageIndex === stage && wanted(value),
  );
  return found.value as StageReport;
}
const isReady = ({ report }: StageReport) => report?.$case === 'ready';
const isWaiting = ({ report }: StageReport) =>
  report?.$case === 'loading' && report.value.phase === LoadProgress_Phase.PHASE_WAITING_EDGES;
const isFault = ({ report }: StageReport) => report?.$case === 'fault';
const saidReady = (session: ScriptedSession) =>
  session.heard.all.flatMap(({ $case, value }) => ($case === 'report' && isReady(value) ? [value.stageIndex] : []));

/** The first stage of a plan, for the worker that is none of ours. */
function oddDelivery(nodes: readonly bigint[]): ProvisionDelivery {
  const delivery = provisionOf('tiny.gguf');
  const [stage] = new PlannedStages(nodes).deliveryTo(2n).stages;
  return { ...delivery, stages: [{ ...stage!, settings: delivery.stages[0]!.settings }] };
}

/** The token endpoint of a run, behind a gateway at the orchestrator's node id. */
async function openEndpoint(stages: PlannedStages, flags: EdgeFlags = {}): Promise<TokenEndpoint> {
  const node = { clusterId: CLUSTER, nodeId: 1n };
  const opened = await openNodeGateway({ flags, ownerId: CLUSTER, node, onNote: () => {} });
  if (opened.kind === 'refused') throw new Error(opened.message);
  const { gateway } = opened;
  onTestFinished(() => gateway.close());
  const { tokenIn, tokenOut } = stages;
  const socket = join(temporaryFolder(), 'out.sock');
  register(gateway, {
    runId: 7n,
    generation: 1,
    nodeId: 1n,
    inbound: { edgeId: tokenOut.edgeId, producerNodeId: tokenOut.producerNodeId, socket },
    outbound: { edgeId: tokenIn.edgeId, consumerNodeId: stages.nodes[0]! },
  });
  const endpoint = await TokenEndpoint.open(
    { socket: gateway.localSocket, contract: tokenIn },
    { socket, contract: tokenOut },
  );
  onTestFinished(() => endpoint.close());
  return endpoint;
}

/** Everything in the runtime folder but folders, without the process ids. */
function sockets(): string[] {
  const entries = readdirSync(runtime, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name.replace(/^\d+-/, '')])).sort();
}

/** The places of nodes 1, 2 and 3 in a folder of the test's own. */
function explicitFlags(): (nodeId: bigint) => EdgeFlags {
  const folder = temporaryFolder();
  const addresses = [1n, 2n, 3n].map((id) => `${id}=unix:${join(folder, `n${id}.sock`)}`);
  return (nodeId) => ({ listen: addresses[Number(nodeId) - 1]!.slice(2), addresses });
}

describe.skipIf(!existsSync(compiled))('stages of two nodes', () => {
  it.each([
    ['without a flag', () => () => ({})],
    ['with addresses', explicitFlags],
  ])('are ready once all their edges are connected, and tokens flow: %s', async (_, makeFlags) => {
    const flags: (nodeId: bigint) => EdgeFlags = makeFlags();
    const orchestrator = await ScriptedOrchestrator.open();
    const models = [await modelsFolder()];
    const stages = new PlannedStages([2n, 2n, 3n]);
    const two = await joined(orchestrator, 2n, { models, edges: flags(2n) });
    const three = await joined(orchestrator, 3n, { models, name: 'beta', edges: flags(3n) });
    two.say({ $case: 'provision', value: stages.deliveryTo(2n) });
    three.say({ $case: 'provision', value: stages.deliveryTo(3n) });
    // Stage 1 has both neighbours; the others have loaded as well, and wait for the token edges alone.
    await Promise.all([reportOf(two, 1, isReady), reportOf(two, 0, isWaiting), reportOf(three, 2, isWaiting)]);
    expect([...saidReady(two), ...saidReady(three)]).toEqual([1]);

    const endpoint = await openEndpoint(stages, flags(1n));
    await Promise.all([reportOf(two, 0, isReady), reportOf(three, 2, isReady)]);
    await endpoint.prompt(1n, [5, 6, 7], 16);
    expect(await endpoint.nextToken(1n)).toBeTypeOf('number');
  });
});

describe.skipIf(!existsSync(compiled))('a stage that waits for its edges', () => {
  it('says so again to an orchestrator that may have forgotten it', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const stages = new PlannedStages([2n]);
    const first = await joined(orchestrator, 2n, { models: [await modelsFolder()] });
    first.say({ $case: 'provision', value: stages.deliveryTo(2n) });
    await reportOf(first, 0, isWaiting);
    first.call.end();
    const second = await orchestrator.session(2);
    await second.welcome({ clusterId: CLUSTER });
    await reportOf(second, 0, isWaiting);
  });

  it('leaves nothing in the runtime folder when its agent stops', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const stages = new PlannedStages([2n]);
    const config = { models: [await modelsFolder()], workerCommand: undefined, warmWorkers: 0 };
    const agent = startAgent(orchestrator.address, config);
    const session = await orchestrator.session(1);
    await session.welcome({ clusterId: CLUSTER });
    session.say({ $case: 'provision', value: stages.deliveryTo(2n) });
    await reportOf(session, 0, isWaiting);
    expect(sockets()).toEqual(['2.sock', '7-0-1.sock', 'local.sock']);
    await agent.stop();
    expect(sockets()).toEqual([]);
  });

  it('leaves nothing behind a stop of its own, but the gateway of its node', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const session = await joined(orchestrator, 2n, { models: [await modelsFolder()] });
    session.say({ $case: 'provision', value: new PlannedStages([2n]).deliveryTo(2n) });
    await reportOf(session, 0, isWaiting);
    const stop = { deliveryId: 2n, runId: 7n, stageIndex: 0, generation: 1, reason: 'enough', epoch: 1n };
    session.say({ $case: 'stop', value: stop });
    const { reportId } = await session.hearReport('stopped');
    expect(sockets()).toEqual(['2.sock', 'local.sock']);
    session.say({ $case: 'reportAck', value: { reportIds: [reportId] } });
    session.say({ $case: 'provision', value: new PlannedStages([2n]).deliveryTo(2n) });
    const waited = () =>
      session.heard.all.filter(({ $case, value }) => $case === 'report' && (isWaiting(value) || isFault(value)));
    await session.heard.find(() => waited().length === 2);
    expect(waited().map(({ value }) => (value as StageReport).report?.$case)).toEqual(['loading', 'loading']);
  });

  it('of an agent that was killed leaves nothing that the next start does not remove', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const [dataFolder, models] = [temporaryFolder(), await modelsFolder()];
    const program = fileURLToPath(new URL('fixtures/agent-process.mjs', import.meta.url));
    const killed = spawn(process.execPath, [program, orchestrator.address, dataFolder, models], { stdio: 'ignore' });
    onTestFinished(() => void killed.kill('SIGKILL'));
    const session = await orchestrator.session(1);
    await session.welcome({ clusterId: CLUSTER });
    session.say({ $case: 'provision', value: new PlannedStages([2n]).deliveryTo(2n) });
    await reportOf(session, 0, isWaiting);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(sockets()).toEqual(expect.arrayContaining(['2.sock', 'local.sock']));

    const agent = startAgent(orchestrator.address, { dataFolder });
    const next = await orchestrator.session(2);
    // Before anyone has answered: who the agent is was on disk.
    expect(sockets()).toEqual(['2.sock', 'local.sock']);
    await next.welcome({ clusterId: CLUSTER });
    await agent.stop();
    expect(sockets()).toEqual([]);
  });
});

describe('a worker that knows nothing of edges', () => {
  it('is ready when it says so', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const session = await joined(orchestrator, 2n, {
      models: [await modelsFolder()],
      workerCommand: oddWorker('good'),
    });
    session.say({ $case: 'provision', value: oddDelivery([2n]) });
    await session.hearReport('ready');
  });
});

describe('a stage whose neighbours nobody can find', () => {
  it('faults with the sentence that says what to set, and its worker ends', async () => {
    const orchestrator = await ScriptedOrchestrator.open();
    const models = [await modelsFolder()];
    startAgent(orchestrator.address, { models, edges: { listen: '127.0.0.1:0', addresses: ['1=127.0.0.1:7400'] } });
    const session = await orchestrator.session(1);
    await session.welcome({ clusterId: CLUSTER });
    session.say({ $case: 'provision', value: oddDelivery([2n, 9n]) });
    const { report } = await session.hearReport('fault');
    expect(report?.value).toMatchObject({
      reason: StageFaultReason.STAGE_FAULT_REASON_EDGE_UNREACHABLE,
      message: expect.stringMatching(
        /^node "alpha" cannot open the edges of stage 0 of run 7, generation 1: .+ set --edge-address 9=host:port/,
      ),
    });
    const stop = { deliveryId: 2n, runId: 7n, stageIndex: 0, generation: 1, reason: 'faulted', epoch: 1n };
    session.say({ $case: 'stop', value: stop });
    await session.hearReport('stopped');
  });
});

describe('a start', () => {
  it.each([
    ['an address that is none', { addresses: ['laptop:7400'] }, '--edge-address laptop:7400 does not begin with'],
    ['a template without a node', { template: 'node:7400' }, '--edge-template node:7400 would give all nodes one'],
    ['an open port that nobody asked for', { listen: '0.0.0.0:0' }, 'add --insecure-edges'],
  ])('with %s is refused', async (_, edges, words) => {
    const agent = startAgent('127.0.0.1:1', { edges });
    expect(await agent.done).toMatchObject({ kind: 'refused', message: expect.stringContaining(words) });
    expect(sockets()).toEqual([]);
  });

  it('on a port that is taken is refused before the agent joins', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const agent = startAgent('127.0.0.1:1', { edges: { listen: `127.0.0.1:${port}` } });
    expect(await agent.done).toMatchObject({ kind: 'refused', message: expect.stringContaining('EADDRINUSE') });
  });

  it('with a runtime folder whose path is too long is refused, and says what to set', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', join(runtime, 'x'.repeat(90)));
    const agent = startAgent('127.0.0.1:1');
    expect(await agent.done).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('set XDG_RUNTIME_DIR to a shorter one'),
    });
  });
});
