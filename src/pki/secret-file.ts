import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { limits } from '../core/limits.js';

export type SecretRead =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'missing' }
  /** `message` is a whole sentence. */
  | { readonly kind: 'refused'; readonly message: string };

/** A small text file that is nobody else's: one that others could have read or changed is not used. */
export function readSecretFile(path: string): SecretRead {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'missing' };
    return refuse(`${path} cannot be read (${message}): make it readable for this user alone`);
  }
  try {
    const { mode, uid, size } = fstatSync(descriptor);
    const owner = process.getuid?.();
    if (owner !== undefined && uid !== owner) return refuse(`${path} belongs to another user: make it this user's own`);
    if (owner !== undefined && (mode & 0o077) !== 0) {
      return refuse(
        `${path} can be used by others than its owner: run chmod 600 on it, and ask whether it is still secret`,
      );
    }
    if (size > limits.pemBytes) return refuse(`${path} is no certificate or key: put the right file in its place`);
    return { kind: 'read', text: readFileSync(descriptor, 'utf8') };
  } catch (error) {
    return refuse(`${path} cannot be read (${(error as Error).message}): check the disk`);
  } finally {
    closeSync(descriptor);
  }
}

function refuse(message: string): SecretRead {
  return { kind: 'refused', message };
}
