import { webcrypto } from 'node:crypto';

/** Every key here: what all TLS stacks know, and what is made in a millisecond. */
export const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' };

export const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };

/** How a CA of somebody's own signs, by its key. */
export interface KeyKind {
  /** For its import. */
  readonly key: { readonly name: string; readonly namedCurve?: string; readonly hash?: string };
  readonly signing: { readonly name: string; readonly hash: string };
}

const digestOfCurve: Readonly<Record<string, string>> = { 'P-256': 'SHA-256', 'P-384': 'SHA-384', 'P-521': 'SHA-512' };

/** Undefined for keys that not every TLS stack knows, and for RSA below 2048 bits. */
export function kindOfKey(algorithm: {
  name: string;
  namedCurve?: string;
  modulusLength?: number;
}): KeyKind | undefined {
  const { name, namedCurve = '', modulusLength = 0 } = algorithm;
  if (name === 'ECDSA') {
    const hash = digestOfCurve[namedCurve];
    return hash === undefined ? undefined : { key: { name, namedCurve }, signing: { name, hash } };
  }
  const hash = 'SHA-256';
  if (name !== 'RSASSA-PKCS1-v1_5' || modulusLength < 2048) return undefined;
  return { key: { name, hash }, signing: { name, hash } };
}

/** Of the runtime: the library would look for that of a browser. */
export const crypto: webcrypto.Crypto = webcrypto;
