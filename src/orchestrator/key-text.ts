import { createHash, randomBytes } from 'node:crypto';
import { limits } from '../core/limits.js';

/** By which a key is known for one of ours, in logs and by those who look for secrets in repositories. */
const PREFIX = 'sk-stageplane-';

export function newKeyText(): string {
  return PREFIX + randomBytes(limits.keySecretBytes).toString('base64url');
}

/**
 * What is kept of a key, and what it is found by. A slow hash is for passwords, of which a thief tries the likely ones; all
 * texts of 256 random bits are as likely, so a fast one gives nothing away and lets every request pay for it.
 */
export function keyDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
