import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AdminServiceService as Admin } from '../../gen/stageplane/v1/admin_service.js';
import {
  EnrollmentServiceService as Enrollment,
  EnrollmentServiceClient,
} from '../../gen/stageplane/v1/enrollment_service.js';
import type { Hello, SubscribeRequest } from '../../gen/stageplane/v1/node_agent_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { limits } from '../../src/core/limits.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import { orchestratorCredentials } from '../../src/grpc/tls-credentials.js';
import { sampleHello, samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { forged, runSecured } from '../support/secured-orchestrator.js';

const longer = (bytes: number) => 'x'.repeat(bytes + 1);
const more = <T>(entries: number, entry: T): T[] => Array.from({ length: entries + 1 }, () => entry);
const plan = samplePlan([2n]);
const runtime = plan.runtime!;
const messages = (count: number) => more(count - 1, { role: 'user', content: '' });
const stage = { stageIndex: 0, nodeId: 2n };

/** Calls of launchers and operators, each over one bound, and the field that is complained of. */
const calls: [string, string, (client: OrchestratorServiceClient) => Promise<unknown>][] = [
  [
    'bytes of a request id',
    'request_id',
    (client) => create(client, { requestId: longer(limits.requestIdBytes), plan }),
  ],
  [
    'bytes of a path',
    'source.local_path',
    (client) =>
      unaryCall(client, Service.inspectModel, {
        source: { source: { $case: 'localPath', value: longer(limits.pathBytes) } },
        includeTensors: false,
      }),
  ],
  [
    'bytes of a prompt',
    'plan.runtime.prompt.inline',
    (client) => {
      const prompt = { source: { $case: 'inline' as const, value: longer(limits.promptBytes) } };
      return create(client, { requestId: 'r', plan: { ...plan, runtime: { ...runtime, prompt } } });
    },
  ],
  [
    'stages of a placement',
    'plan.fixed_linear.stages',
    (client) => {
      const value = { stages: more(limits.stagesPerRequest, stage), activationEdges: [] };
      return create(client, { requestId: 'r', plan: { ...plan, placement: { $case: 'fixedLinear', value } } });
    },
  ],
  [
    'bytes of any other string',
    'page_token',
    (client) => unaryCall(client, Service.listNodes, { pageSize: 1, pageToken: longer(limits.stringBytes) }),
  ],
];

async function create(client: OrchestratorServiceClient, request: { requestId: string; plan: typeof plan }) {
  return unaryCall(client, Service.createRun, request);
}

describe('a call over a bound', () => {
  test.each(calls)('%s', async (_bound, field, call) => {
    const { client } = await runOrchestrator();
    const error: RpcError = await call(client).then(
      () => {},
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT, reason: 'INVALID_FIELDS' });
    expect(error.fieldViolations.map((violation) => violation.field)).toEqual([field]);
  });

  test('bytes of a message', async () => {
    const { address } = await runOrchestrator();
    const client = dial(address, OrchestratorServiceClient, {
      ...clientOptions,
      'grpc.max_send_message_length': -1,
    });
    const call = create(client, { requestId: longer(limits.serverReceiveBytes), plan });
    await expect(call).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    client.close();
  });

  test.each([
    ['bytes of headers', 20, 4000],
    ['number of headers', 200, 10],
  ])('%s', async (_bound, count, bytes) => {
    const { client } = await runOrchestrator();
    const metadata = new Metadata();
    for (let index = 0; index < count; index += 1) metadata.set(`x-${index}`, 'v'.repeat(bytes));
    const error = await new Promise((resolve) => client.listNodes({ pageSize: 1, pageToken: '' }, metadata, resolve));
    expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  });

  test('entries of a page are fewer than asked for, and no error', async () => {
    const { client } = await runOrchestrator();
    await expect(unaryCall(client, Service.listNodes, { pageSize: 1_000_000, pageToken: '' })).resolves.toBeDefined();
  });

  test('milliseconds of a drain', async () => {
    const { client } = await runOrchestrator();
    const call = client.drainNode({ nodeId: 2n, deadlineMillis: BigInt(limits.drainMillis) + 1n });
    const error = await new Promise((resolve) => call.on('error', resolve));
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  test('messages of a conversation', async () => {
    const { client } = await runOrchestrator();
    const call = client.generate({ runId: 1n, messages: messages(limits.chatMessages + 1) } as never);
    const error = await new Promise((resolve) => call.on('error', resolve));
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT, details: expect.stringContaining('messages: ') });
  });
});

type Said = NonNullable<SubscribeRequest['message']>;
const hello = (overrides: Partial<Hello>): Said => ({ $case: 'hello', value: sampleHello('alpha', overrides) });
const descriptor = sampleHello('alpha').descriptor!;
const key = { runId: 1n, stageIndex: 0, generation: 1 };
const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_INTERNAL, message: '', logTail: [] as string[] };
const report = (overrides: Partial<typeof fault>): Said => ({
  $case: 'report',
  value: { reportId: 1n, ...key, report: { $case: 'fault', value: { ...fault, ...overrides } } },
});
const labels = Object.fromEntries(more(limits.labelsPerNode, 0).map((_, index) => [`l${index}`, '']));

/** What an agent may say first, and what later. */
const said: [string, string, Said][] = [
  ['bytes of a node’s name', 'hello.name', hello({ name: longer(limits.nameBytes) })],
  ['bytes of an instance', 'hello.instance_id', hello({ instanceId: longer(limits.instanceIdBytes) })],
  [
    'devices of a node',
    'hello.descriptor.devices',
    hello({ descriptor: { ...descriptor, devices: more(limits.devicesPerNode, descriptor.devices[0]!) } }),
  ],
  ['labels of a node', 'hello.descriptor.labels', hello({ descriptor: { ...descriptor, labels } })],
  ['stages that a node holds', 'hello.held', hello({ held: more(limits.heldStagesPerNode, { ...key, phase: 1 }) })],
  ['bytes of a fault', 'report.fault.message', report({ message: longer(limits.faultMessageBytes) })],
  ['log lines of a fault', 'report.fault.log_tail', report({ logTail: more(limits.logTailLines, '') })],
];

test.each(said)('an agent over a bound loses its session: %s', async (_bound, field, message) => {
  const { address } = await runOrchestrator();
  const agent = message.$case === 'hello' ? new ScriptedAgent(address) : await ScriptedAgent.join(address, 'alpha');
  agent.say(message);
  const error = await agent.ended;
  expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
  expect(error?.fieldViolations.map((violation) => violation.field)).toEqual([field]);
});

test.each([
  ['secret', { secret: longer(limits.nameBytes) }],
  ['csr', { csr: randomBytes(limits.csrBytes + 1) }],
  ['name', { name: longer(limits.nameBytes) }],
  ['instance_id', { instanceId: longer(limits.instanceIdBytes) }],
])('whoever redeems a token is held to bounds too: %s', async (field, overrides) => {
  const { enrollAddress, operator } = await runSecured();
  const client = dial(
    enrollAddress,
    EnrollmentServiceClient,
    clientOptions,
    orchestratorCredentials(operator.credentials.ca),
  );
  const request = { secret: 's', csr: Buffer.alloc(1), name: 'n', defaultName: '', instanceId: 'i', ...overrides };
  const error = await unaryCall(client, Enrollment.enroll, request).catch((thrown) => thrown);
  client.close();
  expect(error).toMatchObject({ code: status.INVALID_ARGUMENT, fieldViolations: [{ field }] });
});

test('join tokens that have not expired', async () => {
  const { admin } = await runSecured();
  const token = () => unaryCall(admin, Admin.createJoinToken, { role: 'agent', nodeName: '', ttlMillis: 0n });
  const made = await Promise.allSettled(more(limits.joinTokens, 0).map(token));
  const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused).toMatchObject([{ code: status.RESOURCE_EXHAUSTED }]);
});

test('of the messages of a session none is lost when more come than may at once', async () => {
  const { address } = await runOrchestrator();
  const agent = await ScriptedAgent.join(address, 'alpha');
  const last = limits.messagesAtOnce + 500;
  for (let sequence = 1; sequence <= last; sequence += 1) {
    agent.say({ $case: 'heartbeat', value: { sequence: BigInt(sequence), devices: [], stages: [] } });
  }
  for (let heard = 1; heard <= last; heard += 1) {
    expect((await agent.next('heartbeatAck')).sequence).toBe(BigInt(heard));
  }
});

describe('where tokens are redeemed', () => {
  test('one address has so many connections, of which the oldest that says nothing goes first', async () => {
    const orchestrator = await runSecured();
    const sockets = await silentConnections(
      orchestrator.enrollAddress,
      '127.0.0.1',
      limits.enrollConnectionsPerAddress,
    );
    expect((await orchestrator.enrol('viewer', 'vera')).answer.name).toBe('vera');
    await expect.poll(() => sockets[0]!.closed).toBe(true);
    expect(sockets.at(-1)!.closed).toBe(false);
  });

  test('one address that has redeemed tokens by all its connections gets no other', async () => {
    const orchestrator = await runSecured();
    const asked = () => orchestrator.redeem(forgedToken, 'alpha');
    const forgedToken = forged(await orchestrator.token());
    const clients = more(limits.enrollConnectionsPerAddress - 1, 0).map(() => {
      const { ca } = orchestrator.operator.credentials;
      return dial(orchestrator.enrollAddress, EnrollmentServiceClient, clientOptions, orchestratorCredentials(ca));
    });
    const request = { secret: '', csr: Buffer.alloc(1), name: '', defaultName: '', instanceId: '' };
    const refusals = clients.map((client) => unaryCall(client, Enrollment.enroll, request).catch((error) => error));
    for (const refusal of await Promise.all(refusals)) expect(refusal).toMatchObject({ reason: 'INVALID_FIELDS' });
    await expect(asked()).rejects.toMatchObject({ code: status.UNAVAILABLE });
    for (const client of clients) client.close();
    await expect.poll(() => asked().catch(({ reason }) => reason), { timeout: 30_000 }).toBe('TOKEN_UNKNOWN');
  });

  test('all addresses together have so many', async () => {
    const { enrollAddress } = await runSecured();
    const each = limits.enrollConnectionsPerAddress;
    const groups: Socket[][] = [];
    // All of 127.0.0.0/8 is this machine, on Linux.
    for (const host of ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
      groups.push(await silentConnections(enrollAddress, host, each));
    }
    const sockets = groups.flat();
    const room = limits.enrollConnections;
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBe(sockets.length - room);
    // Those of the last address are there, each in the place of one of an address that had more.
    expect(groups.at(-1)!.filter(({ closed }) => !closed).length).toBeGreaterThan(0);
  });
});

async function silentConnections(address: string, from: string, count: number): Promise<Socket[]> {
  const [host, port] = address.split(':');
  const sockets: Socket[] = [];
  for (let made = 0; made < count; made += 1) {
    const socket = connect({ host, port: Number(port), localAddress: from }).on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket.resume(), 'connect');
    sockets.push(socket);
  }
  return sockets;
}
