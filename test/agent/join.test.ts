import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { AdminServiceService as Admin } from '../../gen/stageplane/v1/admin_service.js';
import { type Node, NodeConditionType } from '../../gen/stageplane/v1/node.js';
import { Hello } from '../../gen/stageplane/v1/node_agent_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { AgentSession } from '../../src/agent/agent-session.js';
import { unaryCall } from '../../src/grpc/client.js';
import type { Credentials } from '../../src/pki/credential-folder.js';
import { credentialsOf, runSecured, type SecuredOrchestrator } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { startAgent } from './start-agent.js';

const patience = { timeout: 20_000, interval: 20 };

async function nodesOf(orchestrator: SecuredOrchestrator): Promise<Node[]> {
  const client = orchestrator.call(OrchestratorServiceClient, orchestrator.operator.credentials);
  return (await unaryCall(client, Service.listNodes, { pageSize: 0, pageToken: '' })).nodes;
}

async function connected(orchestrator: SecuredOrchestrator): Promise<string[]> {
  const isConnected = ({ conditions }: Node) =>
    conditions.some(({ type, met }) => type === NodeConditionType.NODE_CONDITION_TYPE_CONNECTED && met);
  return (await nodesOf(orchestrator)).filter(isConnected).map(({ name, nodeId }) => `${nodeId} ${name}`);
}

const joinFlags = async (orchestrator: SecuredOrchestrator, name: string) => ({
  join: await orchestrator.token('agent', name),
  enroll: orchestrator.enrollAddress,
  dataFolder: temporaryFolder(),
  // The token has its name, and so has the certificate.
  name: undefined,
});

test('an agent joins by token, and comes back by its certificate, with the token and without', async () => {
  const orchestrator = await runSecured();
  const flags = await joinFlags(orchestrator, 'alpha');
  const first = startAgent(orchestrator.address, flags);
  await expect.poll(() => connected(orchestrator), patience).toEqual(['2 alpha']);
  await first.stop();
  const path = join(flags.dataFolder, 'pki', 'agent.pem');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  for (const again of [flags, { dataFolder: flags.dataFolder, name: undefined }]) {
    const agent = startAgent(orchestrator.address, again);
    await expect.poll(() => connected(orchestrator), patience).toEqual(['2 alpha']);
    await agent.stop();
    await expect.poll(() => connected(orchestrator), patience).toEqual([]);
  }
});

test('an agent that has lost its certificates does not go on in plain text, and joins anew', async () => {
  const orchestrator = await runSecured();
  const flags = await joinFlags(orchestrator, 'alpha');
  const first = startAgent(orchestrator.address, flags);
  await expect.poll(() => connected(orchestrator), patience).toEqual(['2 alpha']);
  await first.stop();
  rmSync(join(flags.dataFolder, 'pki'), { recursive: true });
  const bare = startAgent(orchestrator.address, { dataFolder: flags.dataFolder, name: undefined });
  expect(await bare.done).toMatchObject({ kind: 'refused', message: expect.stringMatching(/join anew/) });
  startAgent(orchestrator.address, { ...flags, join: await orchestrator.token('agent', 'alpha') });
  await expect.poll(() => connected(orchestrator), patience).toEqual(['2 alpha']);
});

test('an agent renews its certificate and goes on under it', async () => {
  const orchestrator = await runSecured({ certificateLifetime: 6000 });
  const flags = await joinFlags(orchestrator, 'alpha');
  startAgent(orchestrator.address, flags);
  const path = join(flags.dataFolder, 'pki', 'agent.pem');
  await expect.poll(() => existsSync(path), patience).toBe(true);
  const before = readFileSync(path, 'utf8');
  await expect.poll(() => readFileSync(path, 'utf8') !== before, patience).toBe(true);
  await expect.poll(() => connected(orchestrator), patience).toEqual(['2 alpha']);
});

test('its gateway shows the renewed certificate as well, without a restart', async () => {
  const orchestrator = await runSecured({ certificateLifetime: 20_000 });
  const neighbour = (await orchestrator.enrol('agent', 'beta')).credentials;
  const port = await freePort();
  const flags = await joinFlags(orchestrator, 'alpha');
  startAgent(orchestrator.address, { ...flags, edges: { listen: `127.0.0.1:${port}` } });
  const path = join(flags.dataFolder, 'pki', 'agent.pem');
  await expect.poll(() => shownAt(port, neighbour), patience).toBeDefined();
  const before = await shownAt(port, neighbour);
  await expect.poll(() => shownAt(port, neighbour), patience).not.toBe(before);
  expect(new X509Certificate(readFileSync(path, 'utf8')).fingerprint256).toBe(await shownAt(port, neighbour));
});

/** Fingerprint of what a gateway shows to a neighbour; undefined while nobody listens. */
async function shownAt(port: number, { ca, certificate: cert, privateKey: key }: Credentials) {
  const socket = connect({ host: '127.0.0.1', port, ca, cert, key, checkServerIdentity: () => undefined });
  const shown = await once(socket, 'secureConnect').then(
    () => socket.getPeerCertificate().fingerprint256,
    () => undefined,
  );
  socket.destroy();
  return shown;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a revoked agent loses its session and is told so when it comes back', async () => {
  const orchestrator = await runSecured();
  const flags = await joinFlags(orchestrator, 'alpha');
  const agent = startAgent(orchestrator.address, flags);
  await expect.poll(() => connected(orchestrator), patience).toEqual(['2 alpha']);
  const { certificates } = await unaryCall(orchestrator.admin, Admin.listCertificates, {});
  await unaryCall(orchestrator.admin, Admin.revokeCertificate, { serial: certificates[0]!.serial });
  await expect.poll(() => connected(orchestrator), patience).toEqual([]);
  await agent.stop();
  const end = await startAgent(orchestrator.address, { dataFolder: flags.dataFolder }).done;
  expect(end).toMatchObject({ kind: 'refused', message: expect.stringContaining('was revoked') });
});

test.each([
  ['the data folder of another node', { name: 'alpha', instanceId: 'beta' }, 'OTHER_INSTANCE'],
  ['the name of another node', { name: 'beta', instanceId: 'alpha' }, 'OTHER_NAME'],
])('a certificate admits its own node, whatever the Hello claims: %s', async (_what, claim, reason) => {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('agent', 'alpha');
  await orchestrator.enrol('agent', 'beta');
  const session = new AgentSession({
    address: orchestrator.address,
    callbacks: { onProvision: () => {}, onStop: () => {} },
    credentials: credentialsOf(credentials),
  });
  session.hello(Hello.fromPartial({ ...claim, processId: 'p', protocolMin: 1, protocolMax: 1, descriptor: {} }));
  expect(await session.ended).toMatchObject({ kind: 'failed', error: { reason } });
  expect(await connected(orchestrator)).toEqual([]);
});

test('a token that is none is refused before anything is started', async () => {
  const end = await startAgent('127.0.0.1:1', { join: 'sp1.abc.def' }).done;
  expect(end).toMatchObject({ kind: 'refused', message: expect.stringContaining('--join') });
});
