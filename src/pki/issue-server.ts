import { isIP } from 'node:net';
import { limits } from '../core/limits.js';
import { type Authority, issue, pemOf, type Subject } from './authority.js';
import { makeKeyPair } from './key-pair.js';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension, SubjectAlternativeNameExtension } from './x509.js';

/** A certificate and its key, both in PEM. */
export interface Credential {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface ServerSubject {
  /** Names and addresses by which it is reached. */
  readonly hosts: readonly string[];
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The orchestrator's own. Its key lies beside that of the CA, so a shorter life than the CA's would protect nothing.
 */
export async function issueServer(authority: Authority, subject: ServerSubject): Promise<Credential> {
  const { keys, privateKey } = await makeKeyPair();
  return { certificate: await issueServerFor(authority, keys.publicKey, subject), privateKey };
}

/** The same for a key that there is already. */
export async function issueServerFor(
  authority: Authority,
  publicKey: Subject['publicKey'],
  { hosts, serial, now }: ServerSubject,
): Promise<string> {
  const names = hosts.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value }));
  const certificate = await issue(authority, {
    name: [{ O: ['orchestrator'] }, { CN: ['orchestrator'] }],
    publicKey,
    serial,
    now,
    lifetime: limits.caMillis,
    extensions: [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names),
    ],
  });
  return pemOf(certificate);
}
