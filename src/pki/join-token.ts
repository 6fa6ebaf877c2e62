import { createHash } from 'node:crypto';
import { limits } from '../core/limits.js';

/** What a token says: whom to trust, and what to say to it. */
export interface JoinToken {
  /** SHA-256 of the CA in DER, as 64 hexadecimal digits. */
  readonly caDigest: string;
  /** Base64url of `limits.tokenSecretBytes` random bytes. */
  readonly secret: string;
}

/** `sp1.<digest of the CA>.<secret>` */
export function formatToken({ caDigest, secret }: JoinToken): string {
  return `sp1.${caDigest}.${secret}`;
}

/** Undefined when it is no token, or was not copied as a whole. */
export function parseToken(text: string): JoinToken | undefined {
  const [, caDigest = '', secret = ''] = /^sp1\.([0-9a-f]{64})\.([A-Za-z0-9_-]+)$/.exec(text.trim()) ?? [];
  return Buffer.from(secret, 'base64url').length === limits.tokenSecretBytes ? { caDigest, secret } : undefined;
}

/** What is kept of a secret. It is random and long, so a plain digest tells nothing of it. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
