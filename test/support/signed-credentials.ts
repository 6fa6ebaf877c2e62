import { readAuthorityFolder } from '../../src/pki/authority-folder.js';
import { readRequest, requestCertificate } from '../../src/pki/certificate-request.js';
import type { Credentials } from '../../src/pki/credential-folder.js';
import { issueClient } from '../../src/pki/issue-client.js';
import { makeKeyPair } from '../../src/pki/key-pair.js';

/** What a viewer has whose certificate the CA of a data folder has signed, without asking its orchestrator. In milliseconds. */
export async function signedCredentials(
  dataFolder: string,
  { lifetime, age = 0 }: { lifetime: number; age?: number },
): Promise<Credentials> {
  const read = await readAuthorityFolder(dataFolder);
  if (read.kind !== 'read') throw new Error('there is no CA');
  const key = await makeKeyPair();
  const requested = await readRequest(await requestCertificate(key));
  const now = Date.now() - age;
  const subject = { role: 'viewer', name: 'vera', serial: '4'.repeat(32), now, lifetime } as const;
  const certificate = await issueClient(read.own.authority, requested!, subject);
  return { ca: read.own.ca, certificate, privateKey: key.privateKey };
}
