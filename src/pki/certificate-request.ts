import { createHash } from 'node:crypto';
import { crypto, keyAlgorithm, signingAlgorithm } from './key-algorithm.js';
import type { KeyPair } from './key-pair.js';
import { Pkcs10CertificateRequest, Pkcs10CertificateRequestGenerator, type PublicKey } from './x509.js';

/** The key of a certificate request, whose sender has shown that it has the private part. */
export interface RequestedKey {
  readonly publicKey: PublicKey;
  /** SHA-256 of the public key, as 64 hexadecimal digits. */
  readonly digest: string;
}

/** A request in DER. Who it is for is the issuer's to say, so it names nobody. */
export async function requestCertificate({ keys }: KeyPair): Promise<Uint8Array> {
  const request = await Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm }, crypto);
  return new Uint8Array(request.rawData);
}

/** Undefined when it is no request, not signed by its own key, or of a key that is none of ours. */
export async function readRequest(der: Uint8Array): Promise<RequestedKey | undefined> {
  try {
    const request = new Pkcs10CertificateRequest(new Uint8Array(der));
    const { publicKey } = request;
    const { name, namedCurve } = publicKey.algorithm as { name: string; namedCurve?: string };
    if (name !== keyAlgorithm.name || namedCurve !== keyAlgorithm.namedCurve) return undefined;
    if (!(await request.verify(crypto))) return undefined;
    return { publicKey, digest: createHash('sha256').update(Buffer.from(publicKey.rawData)).digest('hex') };
  } catch {
    return undefined;
  }
}
