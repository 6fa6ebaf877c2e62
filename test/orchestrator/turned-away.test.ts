import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import { tlsRefusal } from '../../src/grpc/tls-refusal.js';
import type { Credentials } from '../../src/pki/credential-folder.js';
import { writeCredentials } from '../../src/pki/credential-folder.js';
import { clientFolder } from '../../src/pki/find-credentials.js';
import { Child, stageplane } from '../cli/child.js';
import { credentialsOf, runSecured } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** `stageplane nodes list` by a user who has kept what is given for the address. */
async function listBy(
  address: string,
  kept?: Credentials,
): Promise<{ code: number | null; error: Record<string, string>; stderr: string }> {
  const home = temporaryFolder();
  const environment = { HOME: home, XDG_CONFIG_HOME: home, STAGEPLANE_DATA: join(home, 'none') };
  if (kept) expect(writeCredentials(clientFolder(address, environment), 'client', kept)).toBeUndefined();
  const { code, stdout, stderr } = await stageplane(
    ['nodes', 'list', '--json', '--orchestrator', address],
    environment,
  );
  const error = JSON.parse(stdout || stderr);
  return { code, error, stderr };
}

test('who has no certificate is told that one is needed, and how to get it', async () => {
  const { address } = await runSecured();
  const { code, error } = await listBy(address);
  expect(code).toBe(1);
  expect(error).toMatchObject({ reason: 'CERTIFICATE_REQUIRED' });
  expect(error.message).toMatch(/asks for a certificate.+stageplane token create.+stageplane join TOKEN/);
});

test('who joined another orchestrator is told that this is not the one', async () => {
  const [one, other] = [await runSecured(), await runSecured()];
  const { error } = await listBy(one.address, (await other.enrol('viewer', 'vera')).credentials);
  expect(error).toMatchObject({ reason: 'FOREIGN_ORCHESTRATOR' });
});

test('whose certificate is of another CA is told that it is not taken, although the orchestrator is the right one', async () => {
  const [one, other] = [await runSecured(), await runSecured()];
  const foreign = { ...(await other.enrol('viewer', 'vera')).credentials, ca: one.operator.credentials.ca };
  const client = one.call(OrchestratorServiceClient, foreign);
  const call = unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  const error: RpcError = await call.catch((thrown) => thrown);
  expect(await tlsRefusal(one.address, error, true)).toBe('certificate-refused');
  // The CLI sees it in the file itself.
  expect((await listBy(one.address, foreign)).error).toMatchObject({ reason: 'CREDENTIALS_UNUSABLE' });
});

test('where nobody listens nothing is said of certificates', async () => {
  const { address, stop, enrol } = await runSecured();
  const { credentials } = await enrol('viewer', 'vera');
  await stop();
  expect((await listBy(address)).error).toMatchObject({ reason: 'ORCHESTRATOR_UNREACHABLE' });
  expect((await listBy(address, credentials)).error).toMatchObject({ reason: 'ORCHESTRATOR_UNREACHABLE' });
});

test('an agent without a certificate says so in its log, and goes on trying', async () => {
  const { address } = await runSecured();
  const data = temporaryFolder();
  const child = new Child([
    'agent',
    '--orchestrator',
    address,
    '--name',
    'alpha',
    '--data',
    data,
    '--edge-listen',
    '127.0.0.1:0',
  ]);
  onTestFinished(async () => {
    child.process.kill('SIGKILL');
    await child.end();
  });
  await child.shown('stderr', '--join and a token');
});

test('no warning of the runtime comes of an address without a name', async () => {
  const { address, operator } = await runSecured();
  const { stderr } = await listBy(address, operator.credentials).catch(() => ({ stderr: '' }));
  expect(stderr).not.toContain('DEP0123');
});

/** A server that shows an agent's certificate, and would take everyone's. */
async function impostor(credentials: Credentials): Promise<string> {
  const pair = {
    cert_chain: Buffer.from(`${credentials.certificate}\n${credentials.ca}`),
    private_key: Buffer.from(credentials.privateKey),
  };
  const server = new Server();
  server.addService(
    { listNodes: OrchestratorServiceService.listNodes },
    { listNodes: (_call: unknown, answer: (error: null, response: unknown) => void) => answer(null, { nodes: [] }) },
  );
  const tls = ServerCredentials.createSsl(null, [pair], false);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', tls, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  onTestFinished(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

test('an agent’s certificate does not make an orchestrator: neither the CLI nor a node believes it', async () => {
  const { enrol, operator } = await runSecured();
  const { credentials } = await enrol('agent', 'alpha');
  const address = await impostor(credentials);
  const client = dial(address, OrchestratorServiceClient, clientOptions, credentialsOf(operator.credentials));
  onTestFinished(() => client.close());
  const call = unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  await expect(call).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  expect((await listBy(address, operator.credentials)).code).not.toBe(0);
});
