import { isIP } from 'node:net';
import { limits } from '../core/limits.js';
import { type Authority, issue, pemOf } from './authority.js';
import { makeKeyPair } from './key-pair.js';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension, SubjectAlternativeNameExtension } from './x509.js';

/** A certificate and its key, both in PEM. */
export interface Credential {
  readonly certificate: string;
  readonly privateKey: string;
}

/**
 * The orchestrator's own. Its key lies beside that of the CA, so a shorter life than the CA's would protect nothing.
 *
 * @param hosts names and addresses by which it is reached
 */
export async function issueServer(
  authority: Authority,
  { hosts, serial, now }: { readonly hosts: readonly string[]; readonly serial: string; readonly now: number },
): Promise<Credential> {
  const { keys, privateKey } = await makeKeyPair();
  const names = hosts.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value }));
  const certificate = await issue(authority, {
    name: [{ O: ['orchestrator'] }, { CN: ['orchestrator'] }],
    publicKey: keys.publicKey,
    serial,
    now,
    lifetime: limits.caMillis,
    extensions: [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names),
    ],
  });
  return { certificate: pemOf(certificate), privateKey };
}
