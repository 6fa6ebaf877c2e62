import { webcrypto } from 'node:crypto';

/** Every key here: what all TLS stacks know, and what is made in a millisecond. */
export const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' };

export const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };

/** Of the runtime: the library would look for that of a browser. */
export const crypto: webcrypto.Crypto = webcrypto;
