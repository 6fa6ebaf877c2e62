import { randomBytes } from 'node:crypto';
import { readAuthorityFolder, replaceServerCertificate } from '../pki/authority-folder.js';
import { issueServerFor } from '../pki/issue-server.js';
import { serialNumber } from '../pki/serial-number.js';
import { SubjectAlternativeNameExtension, X509Certificate } from '../pki/x509.js';
import { prepareDataFolder } from '../process/data-folder.js';
import { lockFolder } from '../process/folder-lock.js';

export type ServerNamesAdded =
  | { readonly kind: 'added'; readonly hosts: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/**
 * Lets an initialised orchestrator that does not run be reached by more names, with the same key and CA: nobody has to join
 * anew.
 */
export async function addServerNames(dataFolder: string, names: readonly string[]): Promise<ServerNamesAdded> {
  const folder = prepareDataFolder(dataFolder);
  if (folder.kind === 'refused') return folder;
  const lock = lockFolder(folder.path);
  if (lock.kind === 'refused') return lock;
  try {
    return await addTo(folder.path, names);
  } finally {
    lock.release();
  }
}

async function addTo(folder: string, names: readonly string[]): Promise<ServerNamesAdded> {
  const read = await readAuthorityFolder(folder);
  if (read.kind === 'missing') {
    const message = `the data folder ${folder} was not initialised yet: run \`stageplane init\` with --name instead`;
    return { kind: 'refused', reason: 'NOT_INITIALISED', message };
  }
  if (read.kind === 'refused') return { ...read, reason: 'CERTIFICATES_UNUSABLE' };
  const { authority, server } = read.own;
  const before = new X509Certificate(server.certificate);
  const known = before.getExtension(SubjectAlternativeNameExtension)?.names.items.map(({ value }) => value) ?? [];
  const hosts = [...new Set([...known, ...names])];
  const subject = { hosts, serial: serialNumber(randomBytes(16)), now: Date.now() };
  const certificate = await issueServerFor(authority, before.publicKey, subject);
  const problem = replaceServerCertificate(folder, certificate);
  return problem === undefined
    ? { kind: 'added', hosts }
    : { kind: 'refused', reason: 'NOT_WRITTEN', message: problem };
}
