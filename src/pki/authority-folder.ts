import { X509Certificate } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { refusalOf } from '../process/folder-refusal.js';
import { syncFolder } from '../process/sync-folder.js';
import { writeFileAtomically } from '../process/write-file-atomically.js';
import { type Authority, type AuthorityFiles, readAuthority } from './authority.js';
import { authorityFolder, isInitialised } from './is-initialised.js';
import type { Credential } from './issue-server.js';
import { readSecretFile } from './secret-file.js';
import { markSecure } from './security-mark.js';

/** What `stageplane init` leaves in the data folder of an orchestrator. */
export interface AuthorityContent {
  readonly ca: AuthorityFiles;
  readonly server: Credential;
  /** Of the operator of this machine. */
  readonly admin: Credential;
}

/** An orchestrator's own authority, ready for use. */
export interface OwnAuthority {
  readonly authority: Authority;
  /** PEM. */
  readonly ca: string;
  readonly server: Credential;
}

export type AuthorityRead =
  | { readonly kind: 'read'; readonly own: OwnAuthority }
  /** Nobody has run `stageplane init` here. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly message: string };

const files = {
  ca: 'ca.pem',
  caKey: 'ca-key.pem',
  server: 'server.pem',
  serverKey: 'server-key.pem',
  admin: 'admin.pem',
} as const;

/** Everything or a refusal: a folder of which a part is missing never counts as one without certificates. */
export async function readAuthorityFolder(dataFolder: string): Promise<AuthorityRead> {
  if (!isInitialised(dataFolder)) return { kind: 'missing' };
  const folder = authorityFolder(dataFolder);
  if (!existsSync(folder)) return refuse(`everyone shows a certificate here, and the folder ${folder} is missing`);
  const texts: Record<string, string> = {};
  for (const key of ['ca', 'caKey', 'server', 'serverKey'] as const) {
    const path = join(folder, files[key]);
    const read = readSecretFile(path);
    if (read.kind === 'refused') return read;
    if (read.kind === 'missing') return refuse(`${path} is missing`);
    texts[key] = read.text;
  }
  const { ca = '', caKey = '', server = '', serverKey = '' } = texts;
  try {
    const authority = await readAuthority({ certificate: ca, privateKey: caKey });
    const problem = serverProblem(ca, server);
    if (problem !== undefined) return refuse(`${join(folder, files.server)} ${problem}`);
    return { kind: 'read', own: { authority, ca, server: { certificate: server, privateKey: serverKey } } };
  } catch (error) {
    return refuse(`the CA in ${folder} cannot be used (${(error as Error).message})`);
  }
}

/**
 * Puts a new folder in place as a whole. One that is there is kept under the name that this gives.
 *
 * @param suffix of that name
 */
export function writeAuthorityFolder(
  dataFolder: string,
  { ca, server, admin }: AuthorityContent,
  suffix: string,
): { readonly kind: 'written'; readonly replaced?: string } | { readonly kind: 'refused'; readonly message: string } {
  const folder = authorityFolder(dataFolder);
  const unfinished = `${folder}.new`;
  const contents = {
    [files.caKey]: ca.privateKey,
    [files.ca]: ca.certificate,
    [files.serverKey]: server.privateKey,
    [files.server]: server.certificate,
    [files.admin]: `${admin.certificate.trimEnd()}\n${admin.privateKey}`,
  };
  try {
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { mode: 0o700 });
    for (const [name, content] of Object.entries(contents)) {
      const written = writeFileAtomically(join(unfinished, name), content);
      if (written.kind === 'refused') return written;
    }
    const marked = markSecure(dataFolder);
    if (marked.kind === 'refused') return marked;
    const replaced = lstatSync(folder, { throwIfNoEntry: false }) ? `${folder}.${suffix}` : undefined;
    if (replaced !== undefined) renameSync(folder, replaced);
    renameSync(unfinished, folder);
    syncFolder(dataFolder);
    return { kind: 'written', ...(replaced !== undefined && { replaced }) };
  } catch (error) {
    return refusalOf(error, dataFolder);
  }
}

/** Puts another certificate of the same key in place. Undefined when it is there, otherwise the sentence that says why not. */
export function replaceServerCertificate(dataFolder: string, certificate: string): string | undefined {
  const written = writeFileAtomically(join(authorityFolder(dataFolder), files.server), certificate);
  return written.kind === 'refused' ? written.message : undefined;
}

function serverProblem(ca: string, server: string): string | undefined {
  const authority = new X509Certificate(ca);
  const issued = new X509Certificate(server);
  if (issued.checkIssued(authority) && issued.verify(authority.publicKey)) return undefined;
  return 'was not signed by the CA beside it';
}

function refuse(problem: string): AuthorityRead {
  const advice = 'put a backup of the folder in its place, or run `stageplane init --force`, after which all join anew';
  return { kind: 'refused', message: `${problem}: ${advice}` };
}
