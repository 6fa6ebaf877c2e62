import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { prepareDataFolder } from '../process/data-folder.js';
import { writeFileAtomically } from '../process/write-file-atomically.js';
import { identityOf, type PeerIdentity } from './peer-identity.js';
import { readSecretFile } from './secret-file.js';

/** What a client shows, and whom it believes. All in PEM. */
export interface Credentials {
  readonly ca: string;
  readonly certificate: string;
  readonly privateKey: string;
}

export type CredentialsRead =
  | { readonly kind: 'read'; readonly credentials: Credentials; readonly identity: PeerIdentity }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly message: string };

const advice = 'put a backup in its place, or join anew with a token';

/**
 * Reads what a client keeps in a folder.
 *
 * @param name of its files: `<name>.pem` has certificate and key in one, so that they are replaced together; `ca.pem` is beside it
 */
export function readCredentials(folder: string, name: string): CredentialsRead {
  const path = join(folder, `${name}.pem`);
  const own = readSecretFile(path);
  if (own.kind !== 'read') return own;
  const ca = readSecretFile(join(folder, 'ca.pem'));
  if (ca.kind === 'missing') return refuse(`${join(folder, 'ca.pem')} is missing beside ${path}: ${advice}`);
  if (ca.kind === 'refused') return ca;
  const certificate = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n?/.exec(own.text)?.[0];
  const privateKey = /-----BEGIN PRIVATE KEY-----[\s\S]*?-----END PRIVATE KEY-----\n?/.exec(own.text)?.[0];
  const identity = certificate === undefined ? undefined : identityOf(certificate);
  if (certificate === undefined || privateKey === undefined || identity === undefined) {
    return refuse(`${path} has no certificate and key of this product: ${advice}`);
  }
  if (!isIssuedBy(certificate, ca.text))
    return refuse(`${path} was not signed by the CA in ca.pem beside it: ${advice}`);
  return { kind: 'read', credentials: { ca: ca.text, certificate, privateKey }, identity };
}

/** Undefined when they are on the disk; otherwise the sentence that says why not. */
export function writeCredentials(folder: string, name: string, credentials: Credentials): string | undefined {
  const prepared = prepareDataFolder(folder);
  if (prepared.kind === 'refused') return prepared.message;
  const { ca, certificate, privateKey } = credentials;
  // The CA first: a certificate without it would be of no use.
  for (const [file, content] of [
    ['ca.pem', ca],
    [`${name}.pem`, `${certificate.trimEnd()}\n${privateKey}`],
  ] as const) {
    const written = writeFileAtomically(join(prepared.path, file), content);
    if (written.kind === 'refused') return written.message;
  }
  return undefined;
}

function isIssuedBy(certificate: string, ca: string): boolean {
  try {
    const authority = new X509Certificate(ca);
    const issued = new X509Certificate(certificate);
    return issued.checkIssued(authority) && issued.verify(authority.publicKey);
  } catch {
    return false;
  }
}

function refuse(message: string): CredentialsRead {
  return { kind: 'refused', message };
}
