import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AdminServiceService as Admin } from '../../gen/stageplane/v1/admin_service.js';
import { unaryCall } from '../../src/grpc/client.js';
import { readCredentials, writeCredentials } from '../../src/pki/credential-folder.js';
import { findCredentials } from '../../src/pki/find-credentials.js';
import { renewInPassing } from '../../src/pki/renew-in-passing.js';
import { stageplane } from '../cli/child.js';
import { runSecured } from '../support/secured-orchestrator.js';
import { signedCredentials } from '../support/signed-credentials.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const lifetime = 100_000;

/** A folder with a certificate that is so old. */
async function kept(dataFolder: string, age: number) {
  const folder = temporaryFolder();
  writeCredentials(folder, 'client', await signedCredentials(dataFolder, { lifetime, age }));
  const found = () => findCredentials('server:1', { dataFolder, folder });
  return { folder, found, text: () => readFileSync(join(folder, 'client.pem'), 'utf8') };
}

test('at half of its life a certificate is renewed, once, by whichever command comes first', async () => {
  const orchestrator = await runSecured();
  const { folder, found, text } = await kept(orchestrator.dataFolder, 60_000);
  const before = text();
  await Promise.all(Array.from({ length: 5 }, () => renewInPassing(orchestrator.address, found())));
  expect(text()).not.toBe(before);
  const read = readCredentials(folder, 'client');
  expect(read).toMatchObject({ kind: 'read', identity: { role: 'viewer', name: 'vera' } });
  const { certificates } = await unaryCall(orchestrator.admin, Admin.listCertificates, {});
  expect(certificates).toHaveLength(1);
  const after = text();
  await renewInPassing(orchestrator.address, found());
  expect(text()).toBe(after);
});

test('before half of its life it stays', async () => {
  const orchestrator = await runSecured();
  const { found, text } = await kept(orchestrator.dataFolder, 20_000);
  const before = text();
  await renewInPassing(orchestrator.address, found());
  expect(text()).toBe(before);
});

test('where nobody renews, nothing is said and nothing is changed', async () => {
  const orchestrator = await runSecured();
  const { found, text } = await kept(orchestrator.dataFolder, 60_000);
  const before = text();
  await renewInPassing('127.0.0.1:1', found());
  await renewInPassing(orchestrator.enrollAddress, found());
  expect(text()).toBe(before);
});

test('a command renews what it shows, and answers as ever', async () => {
  const orchestrator = await runSecured();
  const { folder, text } = await kept(orchestrator.dataFolder, 60_000);
  const before = text();
  const words = ['runs', 'list', '--json', '--orchestrator', orchestrator.address, '--credentials', folder];
  expect(await stageplane(words)).toEqual({ code: 0, stdout: '{\n  "runs": []\n}\n', stderr: '' });
  expect(text()).not.toBe(before);
  expect((await stageplane(words)).code).toBe(0);
});
