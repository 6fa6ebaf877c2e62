import type { Role } from '../core/role.js';
import { type Authority, issue, pemOf } from './authority.js';
import type { RequestedKey } from './certificate-request.js';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension } from './x509.js';

export interface ClientSubject {
  readonly role: Role;
  readonly name: string;
  /** Of an agent. */
  readonly nodeId?: bigint | undefined;
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds. */
  readonly lifetime: number;
}

/**
 * The certificate of a node or client in PEM: `O=agent, CN=node:7, OU=<its name>`, or `O=launcher, CN=launcher:<its name>`. Of
 * what was asked for only the key is taken. Nodes also serve each other with it.
 */
export async function issueClient(authority: Authority, key: RequestedKey, subject: ClientSubject): Promise<string> {
  const { role, name, nodeId, serial, now, lifetime } = subject;
  const common = nodeId === undefined ? `${role}:${name}` : `node:${nodeId}`;
  const unit = nodeId === undefined ? [] : [{ OU: [name] }];
  const certificate = await issue(authority, {
    name: [{ O: [role] }, ...unit, { CN: [common] }],
    publicKey: key.publicKey,
    serial,
    now,
    lifetime,
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth, ExtendedKeyUsage.serverAuth])],
  });
  return pemOf(certificate);
}
