import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { createServer } from 'node:tls';
import { status } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { AdminServiceService as Admin } from '../../gen/stageplane/v1/admin_service.js';
import { CertificateServiceClient, CertificateServiceService } from '../../gen/stageplane/v1/enrollment_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { initialise } from '../../src/orchestrator/initialise.js';
import { startOrchestrator } from '../../src/orchestrator/orchestrator.js';
import { readAuthorityFolder } from '../../src/pki/authority-folder.js';
import type { Credentials } from '../../src/pki/credential-folder.js';
import { renew } from '../../src/pki/renew.js';
import { forged, parsed, runSecured, type SecuredOrchestrator } from '../support/secured-orchestrator.js';
import { signedCredentials } from '../support/signed-credentials.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const listNodes = (orchestrator: SecuredOrchestrator, as: Credentials | undefined) =>
  unaryCall(orchestrator.call(OrchestratorServiceClient, as), Service.listNodes, { pageSize: 0, pageToken: '' });

test('a token admits one node, once, and the node is there before its agent has said a word', async () => {
  const orchestrator = await runSecured();
  const token = await orchestrator.token('agent', 'alpha');
  const { answer } = await orchestrator.redeem(token, 'alpha');
  expect(answer).toMatchObject({ nodeId: 2n, role: 'agent', name: 'alpha' });
  await expect(orchestrator.redeem(token, 'alpha')).rejects.toMatchObject({ reason: 'TOKEN_USED' });
  const { nodes } = await listNodes(orchestrator, orchestrator.operator.credentials);
  expect(nodes).toMatchObject([{ nodeId: 2n, name: 'alpha' }]);
  const { tokens } = await unaryCall(orchestrator.admin, Admin.listJoinTokens, {});
  expect(tokens).toMatchObject([{ role: 'agent', nodeName: 'alpha', usedBy: 'alpha' }]);
});

test('of 50 who redeem one token at once one is admitted', async () => {
  const orchestrator = await runSecured();
  const token = await orchestrator.token();
  const attempts = Array.from({ length: 50 }, (_, index) => orchestrator.redeem(token, `node-${index}`));
  const outcomes = await Promise.allSettled(attempts);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.reason] : []));
  expect(new Set(refused)).toEqual(new Set(['TOKEN_USED']));
  expect((await listNodes(orchestrator, orchestrator.operator.credentials)).nodes).toHaveLength(1);
});

test('a token for another name, an unknown, an expired and a cut one admit nobody', async () => {
  const orchestrator = await runSecured();
  const token = await orchestrator.token('agent', 'alpha');
  await expect(orchestrator.redeem(token, 'beta')).rejects.toMatchObject({ reason: 'OTHER_NAME' });
  await expect(orchestrator.redeem(forged(token), 'alpha')).rejects.toMatchObject({ reason: 'TOKEN_UNKNOWN' });
  const brief = await orchestrator.token('agent', '', 1n);
  await expect.poll(() => orchestrator.redeem(brief, 'late').catch(({ reason }) => reason)).toBe('TOKEN_EXPIRED');
  expect(() => parsed(token.slice(0, -1))).toThrow('is no token');
  expect((await listNodes(orchestrator, orchestrator.operator.credentials)).nodes).toEqual([]);
});

test('tokens and revocations outlive the orchestrator, and no secret is on its disk', async () => {
  const first = await runSecured();
  const token = await first.token('viewer');
  const { credentials } = await first.enrol('viewer', 'vera');
  const { certificates } = await unaryCall(first.admin, Admin.listCertificates, {});
  await unaryCall(first.admin, Admin.revokeCertificate, { serial: certificates[0]!.serial.toUpperCase() });
  await first.stop();
  const { secret } = parsed(token);
  for (const name of readdirSync(first.dataFolder, { recursive: true, encoding: 'utf8' })) {
    const path = joinPath(first.dataFolder, name);
    if (statSync(path).isFile()) expect(readFileSync(path).includes(secret)).toBe(false);
  }
  const second = await runSecured({ dataFolder: first.dataFolder });
  await expect(listNodes(second, credentials)).rejects.toMatchObject({ reason: 'CERTIFICATE_REVOKED' });
  expect((await second.redeem(token, 'victor', '')).answer.role).toBe('viewer');
});

test('a revocation ends what is open, and what was renewed from it', async () => {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('viewer', 'vera');
  const renewed = await renew(orchestrator.address, credentials);
  const watch = streamCall(orchestrator.call(OrchestratorServiceClient, renewed), Service.watchNodes, {
    afterRevision: 0n,
  });
  // The calls pass on one connection, so the watch is open when this is answered.
  const ended = (async () => {
    for await (const _ of watch);
  })().catch((error) => error);
  await listNodes(orchestrator, renewed);
  const { certificates } = await unaryCall(orchestrator.admin, Admin.listCertificates, {});
  const { serials } = await unaryCall(orchestrator.admin, Admin.revokeCertificate, { serial: certificates[0]!.serial });
  expect(serials).toHaveLength(2);
  expect(await ended).toMatchObject({ reason: 'CERTIFICATE_REVOKED' });
  await expect(renew(orchestrator.address, renewed)).rejects.toMatchObject({ reason: 'CERTIFICATE_REVOKED' });
});

test('who shows none, an expired or a foreign certificate does not get in', async () => {
  const orchestrator = await runSecured();
  await expect(listNodes(orchestrator, undefined)).rejects.toMatchObject({ code: status.UNAVAILABLE });
  const expired = await signedCredentials(orchestrator.dataFolder, { lifetime: -1000 });
  await expect(listNodes(orchestrator, expired)).rejects.toMatchObject({ code: status.UNAVAILABLE });
  const elsewhere = temporaryFolder();
  await initialise({ dataFolder: elsewhere, names: [], force: false });
  const foreign = {
    ...(await signedCredentials(elsewhere, { lifetime: 60_000 })),
    ca: orchestrator.operator.credentials.ca,
  };
  await expect(listNodes(orchestrator, foreign)).rejects.toMatchObject({ code: status.UNAVAILABLE });
  expect(
    (await listNodes(orchestrator, await signedCredentials(orchestrator.dataFolder, { lifetime: 60_000 }))).nodes,
  ).toEqual([]);
});

test('a call that is open ends with its certificate', async () => {
  const orchestrator = await runSecured();
  const brief = await signedCredentials(orchestrator.dataFolder, { lifetime: 2000 });
  const client = orchestrator.call(OrchestratorServiceClient, brief);
  const watch = async () => {
    for await (const _ of streamCall(client, Service.watchNodes, { afterRevision: 0n }));
  };
  await expect(watch()).rejects.toMatchObject({ reason: 'CERTIFICATE_EXPIRED' });
});

test('nobody hears the secret who is not of the CA that the token names', async () => {
  const orchestrator = await runSecured();
  const token = await orchestrator.token();
  const elsewhere = temporaryFolder();
  await initialise({ dataFolder: elsewhere, names: [], force: false });
  const read = await readAuthorityFolder(elsewhere);
  if (read.kind !== 'read') throw new Error('there is no CA');
  const { ca, server } = read.own;
  const heard: Buffer[] = [];
  let visits = 0;
  const middleman = createServer({ key: server.privateKey, cert: server.certificate + ca, ALPNProtocols: ['h2'] });
  middleman.on('secureConnection', (socket) => {
    socket.on('data', (data) => heard.push(data)).on('error', () => {});
  });
  middleman.on('connection', () => {
    visits += 1;
  });
  await new Promise<void>((resolve) => middleman.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void middleman.close());
  const { port } = middleman.address() as { port: number };
  const attempt = orchestrator.redeem(token, 'alpha', 'alpha', `127.0.0.1:${port}`);
  await expect(attempt).rejects.toMatchObject({ reason: 'OTHER_AUTHORITY' });
  expect(visits).toBe(1);
  expect(Buffer.concat(heard).toString('latin1')).not.toContain(parsed(token).secret);
  expect((await orchestrator.redeem(token, 'alpha')).answer.nodeId).toBe(2n);
});

test('a certificate request that is none is refused, and renews nothing', async () => {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('viewer', 'vera');
  const client = orchestrator.call(CertificateServiceClient, credentials);
  const call = unaryCall(client, CertificateServiceService.renewCertificate, { csr: Buffer.from('nonsense') });
  await expect(call).rejects.toMatchObject({ code: status.INVALID_ARGUMENT, reason: 'CSR_INVALID' });
});

test('an initialised folder is not initialised again by accident, and never served without certificates', async () => {
  const orchestrator = await runSecured();
  const { dataFolder } = orchestrator;
  await orchestrator.stop();
  expect(await initialise({ dataFolder, names: [], force: false })).toMatchObject({ reason: 'ALREADY_INITIALISED' });
  const config = { listen: '127.0.0.1:0', dataFolder, models: [], timings: {} as never, logger: {} as never };
  await expect(startOrchestrator({ ...config, insecure: true })).rejects.toMatchObject({ reason: 'ALREADY_SECURE' });
  expect(statSync(joinPath(dataFolder, 'pki')).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(joinPath(dataFolder, 'pki'))) {
    expect([name, statSync(joinPath(dataFolder, 'pki', name)).mode & 0o777]).toEqual([name, 0o600]);
  }
});
