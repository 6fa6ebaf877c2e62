import type { NodeId, WallMillis } from '../ids.js';
import type { JoinRole, KeyRole } from '../role.js';

/** Whom a certificate is for. */
export interface Holder {
  readonly role: JoinRole;
  readonly name: string;
  /** Of an agent. */
  readonly nodeId?: NodeId | undefined;
}

/** A join token; its secret is nowhere. */
export interface TokenRecord {
  /** SHA-256 of the secret, as 64 hexadecimal digits. */
  readonly digest: string;
  readonly role: JoinRole;
  /** The one name that it admits; empty for any. */
  readonly nodeName: string;
  readonly expiresAt: WallMillis;
  /** Absent until somebody has. */
  readonly redeemed?: Redeemed | undefined;
}

export interface Redeemed extends Holder {
  /** SHA-256 of the public key that the token admitted: to that one it may be answered again. */
  readonly keyDigest: string;
}

/** A certificate that was issued, for as long as it would be accepted. */
export interface CertificateRecord extends Holder {
  /** Lower-case hexadecimal. */
  readonly serial: string;
  readonly notAfter: WallMillis;
  readonly revoked: boolean;
}

/** A key of the HTTP port; its text is nowhere. */
export interface KeyRecord {
  /** SHA-256 of its text, as 64 hexadecimal digits. */
  readonly digest: string;
  /** For people; not unique. */
  readonly name: string;
  readonly role: KeyRole;
  readonly createdAt: WallMillis;
  /** Absent for one that is good until it is revoked. */
  readonly expiresAt?: WallMillis | undefined;
}

/** What a key is called, which opens nothing. */
export function keyIdOf({ digest }: Pick<KeyRecord, 'digest'>): string {
  return digest.slice(0, 12);
}
