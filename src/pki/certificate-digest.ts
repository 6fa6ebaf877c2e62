import { createHash, X509Certificate } from 'node:crypto';

/** SHA-256 of a certificate in DER, as 64 hexadecimal digits: what a join token names a CA by. */
export function certificateDigest(certificate: string | Uint8Array): string {
  const der = typeof certificate === 'string' ? new X509Certificate(certificate).raw : certificate;
  return createHash('sha256').update(der).digest('hex');
}
