import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { issue, pemOf } from '../../src/pki/authority.js';
import { readAuthorityFolder } from '../../src/pki/authority-folder.js';
import { makeKeyPair } from '../../src/pki/key-pair.js';
import { SubjectAlternativeNameExtension } from '../../src/pki/x509.js';
import { Child } from '../cli/child.js';
import { runSecured, type SecuredOrchestrator } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

interface Shown {
  readonly cert: string;
  readonly key: string;
}

/** Listens in the place of the orchestrator and would take every call that comes. */
async function impostor({ cert, key }: Shown, ca: string) {
  let connections = 0;
  const heard: string[] = [];
  const server = createSecureServer({ cert: cert + ca, key, ca, requestCert: true, rejectUnauthorized: false });
  server.on('connection', () => (connections += 1)).on('sessionError', () => {});
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    heard.push(String(headers[':path']));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, heard, connections: () => connections };
}

/** As which another node of the same pool could serve. */
async function ofNode({ dataFolder }: SecuredOrchestrator, role: string, host: string): Promise<Shown> {
  const read = await readAuthorityFolder(dataFolder);
  if (read.kind !== 'read') throw new Error('there is no CA');
  const { keys, privateKey } = await makeKeyPair();
  const certificate = await issue(read.own.authority, {
    name: [{ O: [role] }, { OU: ['mallory'] }, { CN: ['node:3'] }],
    publicKey: keys.publicKey,
    serial: '7'.repeat(32),
    now: Date.now(),
    lifetime: 60 * 60_000,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'ip', value: host }])],
  });
  return { cert: pemOf(certificate), key: privateKey };
}

function agentProcess(address: string, data: string, ...more: string[]): Child {
  const child = new Child(['agent', '--orchestrator', address, '--data', data, ...more]);
  onTestFinished(async () => {
    child.process.kill('SIGKILL');
    await child.end();
  });
  return child;
}

/** The folder of an agent process that has joined and was stopped. */
async function joined(orchestrator: SecuredOrchestrator): Promise<string> {
  const data = temporaryFolder();
  const token = await orchestrator.token('agent', 'alpha');
  const agent = agentProcess(orchestrator.address, data, '--join', token, '--enroll', orchestrator.enrollAddress);
  await expect.poll(() => existsSync(join(data, 'pki', 'agent.pem')), { timeout: 40_000 }).toBe(true);
  agent.process.kill('SIGTERM');
  await agent.end();
  return data;
}

test.each([
  ['that has the right address in its certificate', 'agent', '127.0.0.1', 'not that of an orchestrator'],
  ['whose certificate is for another address', 'agent', '127.0.0.9', 'does not match'],
])('an agent says nothing to another node of its pool %s, and tells why', async (_which, role, host, why) => {
  const orchestrator = await runSecured();
  const data = await joined(orchestrator);
  const other = await impostor(await ofNode(orchestrator, role, host), orchestrator.operator.credentials.ca);
  const agent = agentProcess(other.address, data);
  await agent.shown('stderr', 'not the orchestrator that was joined');
  expect(agent.stderr).toContain(why);
  expect(agent.stderr).toContain(other.address);
  // It comes back, since an address may be given to the right one again, and is as silent then.
  const before = other.connections();
  await expect.poll(other.connections, { timeout: 40_000 }).toBeGreaterThan(before);
  expect(other.heard).toEqual([]);
});

test('the impostor of these tests would be told Hello if it were the orchestrator', async () => {
  const orchestrator = await runSecured();
  const data = await joined(orchestrator);
  const real = await impostor(
    await ofNode(orchestrator, 'orchestrator', '127.0.0.1'),
    orchestrator.operator.credentials.ca,
  );
  agentProcess(real.address, data);
  await expect.poll(() => real.heard, { timeout: 40_000 }).toContain('/stageplane.v1.NodeAgentService/Subscribe');
});
