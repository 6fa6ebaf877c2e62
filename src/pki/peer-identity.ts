import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import type { Role } from '../core/role.js';
import { U64_MAX } from '../core/uint.js';

/** Who holds a certificate. */
export interface PeerIdentity {
  readonly role: Role;
  readonly name: string;
  /** Of an agent, and of nobody else. */
  readonly nodeId?: bigint | undefined;
  /** Lower-case hexadecimal. */
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly notAfter: number;
}

type Parts = Pick<PeerCertificate, 'subject' | 'serialNumber' | 'valid_to'>;

/** Undefined when it is none that `issueClient` has made: TLS has checked who signed it, not what for. */
export function readIdentity({ subject, serialNumber, valid_to }: Parts): PeerIdentity | undefined {
  const { O: role, OU: unit, CN: common } = subject as Record<string, unknown>;
  const notAfter = Date.parse(valid_to);
  if (typeof role !== 'string' || typeof common !== 'string' || Number.isNaN(notAfter)) return undefined;
  const parts = { serial: serialNumber.toLowerCase(), notAfter };
  if (role === 'agent') {
    const [, digits] = /^node:(\d{1,20})$/.exec(common) ?? [];
    const nodeId = digits === undefined ? 0n : BigInt(digits);
    if (nodeId < 2n || nodeId > U64_MAX || typeof unit !== 'string') return undefined;
    return { role, name: unit, nodeId, ...parts };
  }
  if (role !== 'launcher' && role !== 'viewer' && role !== 'admin') return undefined;
  return common.startsWith(`${role}:`) ? { role, name: common.slice(role.length + 1), ...parts } : undefined;
}

/** Of a certificate in PEM. */
export function identityOf(certificate: string): PeerIdentity | undefined {
  try {
    return readIdentity(new X509Certificate(certificate).toLegacyObject());
  } catch {
    return undefined;
  }
}
