import { createSecureServer } from 'node:http2';
import { createServer as createPlainServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { status } from '@grpc/grpc-js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AdminServiceService as Admin } from '../../gen/stageplane/v1/admin_service.js';
import {
  CertificateServiceClient,
  CertificateServiceService as Certificates,
  EnrollmentServiceService as Enrollment,
  EnrollmentServiceClient,
} from '../../gen/stageplane/v1/enrollment_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { StagePhase } from '../../gen/stageplane/v1/run.js';
import { limits } from '../../src/core/limits.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { orchestratorCredentials } from '../../src/grpc/tls-credentials.js';
import { issue, makeAuthority, pemOf, readAuthority } from '../../src/pki/authority.js';
import { readAuthorityFolder } from '../../src/pki/authority-folder.js';
import { requestCertificate } from '../../src/pki/certificate-request.js';
import type { Credentials } from '../../src/pki/credential-folder.js';
import { issueServer } from '../../src/pki/issue-server.js';
import { keyAlgorithm, signingAlgorithm } from '../../src/pki/key-algorithm.js';
import { makeKeyPair, readSigningKey } from '../../src/pki/key-pair.js';
import { renew } from '../../src/pki/renew.js';
import { SubjectAlternativeNameExtension, X509Certificate } from '../../src/pki/x509.js';
import { samplePlan } from '../core/machine/samples.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { credentialsOf, parsed, runSecured, type SecuredOrchestrator } from '../support/secured-orchestrator.js';

interface Eavesdropper {
  readonly address: string;
  /** All that was said to it: what a call carries, or in plain text every byte. */
  heard(): string;
}

/** Stands where the orchestrator should be and speaks its protocol, so that nobody keeps quiet for want of an answer. */
async function eavesdrop(certificate?: { readonly key: string; readonly cert: string }): Promise<Eavesdropper> {
  const pieces: Buffer[] = [];
  const listen = (stream: Duplex) => {
    stream.on('data', (data) => pieces.push(data)).on('error', () => {});
  };
  const server = certificate ? createSecureServer(certificate) : createPlainServer(listen);
  server.on('stream', listen).on('sessionError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { address: `127.0.0.1:${port}`, heard: () => Buffer.concat(pieces).toString('latin1') };
}

/** A call is read as soon as it is made; whoever hears one answers nothing. */
async function heardSomething(listener: Eavesdropper): Promise<void> {
  await vi.waitUntil(() => listener.heard() !== '', 40_000).catch(() => {});
}

/** Gives what the attempt to redeem a token there ended with; nobody has heard the secret. */
async function redeemedAt(orchestrator: SecuredOrchestrator, listener: Eavesdropper) {
  const token = await orchestrator.token();
  const attempt = orchestrator.redeem(token, 'alpha', 'alpha', listener.address);
  const error = await Promise.race([attempt.catch((error) => error), heardSomething(listener)]);
  expect(listener.heard()).not.toContain(parsed(token).secret);
  expect((await orchestrator.redeem(token, 'alpha')).answer.name).toBe('alpha');
  return error;
}

/** A server certificate by a CA that has the name of the real one, and another key. */
async function impersonated(ca: string) {
  const real = new X509Certificate(ca);
  const other = await makeAuthority('5'.repeat(32), Date.now());
  const { signingKey, kind } = await readAuthority(other);
  return issueServer(
    { certificate: real, signingKey, kind },
    { hosts: ['127.0.0.1'], serial: '6'.repeat(32), now: Date.now() },
  );
}

test('a server that sends the real CA along, without being of it, hears no secret', async () => {
  const orchestrator = await runSecured();
  const { ca } = orchestrator.operator.credentials;
  const { certificate, privateKey } = await impersonated(ca);
  const middleman = await eavesdrop({ key: privateKey, cert: certificate + ca });
  expect(await redeemedAt(orchestrator, middleman)).toMatchObject({ code: status.UNAVAILABLE });
});

test('another node that serves with its own certificate hears no secret, also when it has the right address', async () => {
  const orchestrator = await runSecured();
  const read = await readAuthorityFolder(orchestrator.dataFolder);
  if (read.kind !== 'read') throw new Error('there is no CA');
  const { authority, ca } = read.own;
  const { keys, privateKey } = await makeKeyPair();
  const certificate = await issue(authority, {
    name: [{ O: ['agent'] }, { OU: ['mallory'] }, { CN: ['node:2'] }],
    publicKey: keys.publicKey,
    serial: '7'.repeat(32),
    now: Date.now(),
    lifetime: 60_000,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
  });
  const middleman = await eavesdrop({ key: privateKey, cert: pemOf(certificate) + ca });
  expect(await redeemedAt(orchestrator, middleman)).toMatchObject({ code: status.UNAVAILABLE });
});

test('a server without TLS hears no secret', async () => {
  const orchestrator = await runSecured();
  const token = await orchestrator.token();
  const listener = await eavesdrop();
  const attempt = orchestrator.redeem(token, 'alpha', 'alpha', listener.address);
  await expect.poll(() => listener.heard().length).toBeGreaterThan(0);
  expect(listener.heard()).not.toContain(parsed(token).secret);
  expect(listener.heard().charCodeAt(0)).toBe(22);
  attempt.catch(() => {});
});

test('a token of which one character was changed admits nobody, whichever it is', async () => {
  const orchestrator = await runSecured();
  const token = await orchestrator.token();
  const swapped = (at: number) => `${token.slice(0, at)}${token[at] === '7' ? '8' : '7'}${token.slice(at + 1)}`;
  await expect(orchestrator.redeem(swapped(10), 'alpha')).rejects.toMatchObject({ reason: 'OTHER_AUTHORITY' });
  await expect(orchestrator.redeem(swapped(80), 'alpha')).rejects.toMatchObject({ reason: 'TOKEN_UNKNOWN' });
  expect(() => parsed(swapped(1))).toThrow('is no token');
  // The last character has bits that base64 does not use: another spelling of the same secret is another token.
  const last = token.at(-1) === 'A' ? 'B' : 'A';
  await expect(orchestrator.redeem(token.slice(0, -1) + last, 'alpha')).rejects.toMatchObject({
    reason: 'TOKEN_UNKNOWN',
  });
  expect((await orchestrator.redeem(token, 'alpha')).answer.nodeId).toBe(2n);
});

test('a viewer creates no run, also when it asks for what a launcher may', async () => {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('viewer', 'vera');
  const request = { requestId: 'r', plan: samplePlan([2n]) };
  const call = (as: Credentials) =>
    unaryCall(orchestrator.call(OrchestratorServiceClient, as), Service.createRun, request);
  await expect(call(credentials)).rejects.toMatchObject({ code: status.PERMISSION_DENIED, reason: 'ROLE_MISSING' });
  const { runs } = await unaryCall(orchestrator.call(OrchestratorServiceClient, credentials), Service.listRuns, {
    pageSize: 0,
    pageToken: '',
    activeOnly: false,
  });
  expect(runs).toEqual([]);
  const launcher = (await orchestrator.enrol('launcher', 'laptop')).credentials;
  expect((await call(launcher)).outcome?.$case).toBe('rejection');
});

test('an agent that reports for the stage of another node changes nothing', async () => {
  const orchestrator = await runSecured();
  const joined = async (name: string) => {
    const { credentials } = await orchestrator.enrol('agent', name);
    return ScriptedAgent.join(orchestrator.address, name, { instanceId: name }, credentialsOf(credentials));
  };
  const alpha = await joined('alpha');
  const mallory = await joined('mallory');
  const client = orchestrator.call(OrchestratorServiceClient, orchestrator.operator.credentials);
  const request = { requestId: 'r', plan: samplePlan([2n]) };
  const { outcome } = await unaryCall(client, Service.createRun, request);
  if (outcome?.$case !== 'run') throw new Error('no run was created');
  const { runId } = outcome.value;
  const stages = async () => (await unaryCall(client, Service.getRun, { runId })).run?.stages ?? [];
  const phases = async () => (await stages()).map(({ phase }) => phase);
  const { deliveryId, generation } = await alpha.next('provision');
  alpha.say({ $case: 'ack', value: { deliveryId } });
  const accepted = [StagePhase.STAGE_PHASE_ACCEPTED];
  await expect.poll(phases).toEqual(accepted);
  const key = { runId, stageIndex: 0, generation };
  mallory.report(key, { $case: 'ready', value: { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n } });
  mallory.report(key, { $case: 'stopped', value: {} });
  // Both are acknowledged, as stale ones are, or they would be sent for ever.
  await mallory.next('reportAck');
  await mallory.next('reportAck');
  expect(await phases()).toEqual(accepted);
  await Promise.all([alpha.vanish(), mallory.vanish()]);
});

test('a certificate that another certificate has signed is not believed', async () => {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('viewer', 'vera');
  const kind = { key: keyAlgorithm, signing: signingAlgorithm };
  const signingKey = await readSigningKey(credentials.privateKey, kind);
  const own = await makeKeyPair();
  const forged = await issue(
    { certificate: new X509Certificate(credentials.certificate), signingKey, kind },
    {
      name: [{ O: ['admin'] }, { CN: ['admin:vera'] }],
      publicKey: own.keys.publicKey,
      serial: '7'.repeat(32),
      now: Date.now(),
      lifetime: 60_000,
      extensions: [],
    },
  );
  const shown = { ...credentials, certificate: pemOf(forged) + credentials.certificate, privateKey: own.privateKey };
  const call = unaryCall(orchestrator.call(OrchestratorServiceClient, shown), Service.listNodes, {
    pageSize: 0,
    pageToken: '',
  });
  await expect(call).rejects.toMatchObject({ code: status.UNAVAILABLE });
});

test('a viewer that renews without end takes no room from others, and is let in again after a revocation', async () => {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('viewer', 'vera');
  const { credentials: others } = await orchestrator.enrol('agent', 'alpha');
  const client = orchestrator.call(CertificateServiceClient, credentials);
  const csr = Buffer.from(await requestCertificate(await makeKeyPair()));
  const again = () => unaryCall(client, Certificates.renewCertificate, { csr });
  for (let had = 1; had < limits.certificatesOfOne; had += 1) await again();
  await expect(again()).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: 'TOO_MANY_OF_ONE' });
  expect((await renew(orchestrator.address, others)).certificate).toContain('CERTIFICATE');
  const { certificates } = await unaryCall(orchestrator.admin, Admin.listCertificates, {});
  const { serial } = certificates.find(({ name }) => name === 'vera')!;
  await unaryCall(orchestrator.admin, Admin.revokeCertificate, { serial });
  expect((await orchestrator.enrol('viewer', 'vera')).answer.name).toBe('vera');
});

test('a key that redeems its token again and again is bounded too', async () => {
  const orchestrator = await runSecured();
  const { secret, caDigest } = parsed(await orchestrator.token('viewer', 'vera'));
  expect(caDigest).toHaveLength(64);
  const { ca } = orchestrator.operator.credentials;
  const client = dial(orchestrator.enrollAddress, EnrollmentServiceClient, clientOptions, orchestratorCredentials(ca));
  onTestFinished(() => client.close());
  const csr = Buffer.from(await requestCertificate(await makeKeyPair()));
  const enroll = (part: object) => {
    const request = { secret, csr, name: 'vera', instanceId: '', defaultName: '', ...part };
    return unaryCall(client, Enrollment.enroll, request);
  };
  await expect(enroll({ csr: Buffer.alloc(limits.csrBytes + 1) })).rejects.toMatchObject({ reason: 'INVALID_FIELDS' });
  await expect(enroll({ csr: Buffer.alloc(limits.csrBytes, 0x30) })).rejects.toMatchObject({ reason: 'CSR_INVALID' });
  await expect(enroll({ secret: '' })).rejects.toMatchObject({ reason: 'INVALID_FIELDS' });
  for (let had = 0; had < limits.certificatesOfOne; had += 1) await enroll({});
  await expect(enroll({})).rejects.toMatchObject({ reason: 'TOO_MANY_OF_ONE' });
});
