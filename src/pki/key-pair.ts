import { createPublicKey, type webcrypto } from 'node:crypto';
import { crypto, type KeyKind, keyAlgorithm } from './key-algorithm.js';
import { PemConverter } from './x509.js';

/** A new key, with its private part as PKCS #8 in PEM. */
export interface KeyPair {
  readonly keys: webcrypto.CryptoKeyPair;
  readonly privateKey: string;
}

export async function makeKeyPair(): Promise<KeyPair> {
  const keys = await crypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
  const der = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { keys, privateKey: `${PemConverter.encode(der, 'PRIVATE KEY')}\n` };
}

/** One that `makeKeyPair` has made, from its private part. Rejects when the text is none. */
export async function readKeyPair(pem: string): Promise<KeyPair> {
  const [der] = PemConverter.decode(pem);
  if (!der) throw new Error('it is no key in PEM');
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  const privateKey = await crypto.subtle.importKey('pkcs8', der, keyAlgorithm, false, ['sign']);
  const publicKey = await crypto.subtle.importKey('spki', spki, keyAlgorithm, true, ['verify']);
  return { keys: { privateKey, publicKey }, privateKey: `${pem.trim()}\n` };
}

/** A private key of a kind, in PKCS #8 in PEM, to sign with. Rejects when the text is none. */
export function readSigningKey(privateKey: string, { key }: KeyKind): Promise<webcrypto.CryptoKey> {
  const [der] = PemConverter.decode(privateKey);
  if (!der) throw new Error('it is no key in PEM');
  return crypto.subtle.importKey('pkcs8', der, key, false, ['sign']);
}
