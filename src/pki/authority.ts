import type { webcrypto } from 'node:crypto';
import { limits } from '../core/limits.js';
import { crypto, type KeyKind, kindOfKey, signingAlgorithm } from './key-algorithm.js';
import { makeKeyPair, readSigningKey } from './key-pair.js';
import { validFor } from './validity.js';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  type PublicKey,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from './x509.js';

/** A CA as it lies on the disk. */
export interface AuthorityFiles {
  /** PEM. */
  readonly certificate: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
}

/** A CA that can sign. */
export interface Authority {
  readonly certificate: X509Certificate;
  readonly signingKey: webcrypto.CryptoKey;
  readonly kind: KeyKind;
}

/** What a certificate says of whom. */
export interface Subject {
  readonly name: Record<string, string[]>[];
  readonly publicKey: PublicKey | webcrypto.CryptoKey;
  /** Lower-case hexadecimal. */
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds; it never outlives the CA. */
  readonly lifetime: number;
  readonly extensions: Extension[];
}

/** A new CA for 10 years, which makes no CAs itself. */
export async function makeAuthority(serial: string, now: number): Promise<AuthorityFiles> {
  const { keys, privateKey } = await makeKeyPair();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serial,
      // The serial in it tells CAs of the same name apart, also for TLS stacks that look a CA up by its name.
      name: [{ O: ['stageplane'] }, { CN: [`stageplane CA ${serial.slice(0, 8)}`] }],
      keys,
      signingAlgorithm,
      ...validFor(now, limits.caMillis),
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto),
      ],
    },
    crypto,
  );
  return { certificate: pemOf(certificate), privateKey };
}

const apart = 'its certificate and its key do not belong together';

/** Rejects with the reason, a clause, when it is no CA, or certificate and key do not belong together. */
export async function readAuthority({ certificate: pem, privateKey }: AuthorityFiles): Promise<Authority> {
  const certificate = new X509Certificate(pem);
  if (!certificate.getExtension(BasicConstraintsExtension)?.ca) throw new Error('its certificate is not that of a CA');
  const kind = kindOfKey(certificate.publicKey.algorithm);
  if (!kind) throw new Error('its key is neither ECDSA with P-256, P-384 or P-521 nor RSA of 2048 bits or more');
  const signingKey = await readSigningKey(privateKey, kind).catch(() => undefined);
  if (!signingKey) throw new Error(apart);
  const proof = new TextEncoder().encode('stageplane');
  const signature = await crypto.subtle.sign(kind.signing, signingKey, proof);
  const publicKey = await certificate.publicKey.export(kind.key, ['verify'], crypto);
  if (!(await crypto.subtle.verify(kind.signing, publicKey, signature, proof))) {
    throw new Error(apart);
  }
  return { certificate, signingKey, kind };
}

/** Signs a certificate that is no CA. */
export async function issue(
  { certificate: ca, signingKey, kind }: Authority,
  subject: Subject,
): Promise<X509Certificate> {
  const { name, publicKey, serial, now, lifetime, extensions } = subject;
  const { notBefore, notAfter } = validFor(now, lifetime);
  return X509CertificateGenerator.create(
    {
      serialNumber: serial,
      subject: name,
      // Byte for byte: some TLS stacks compare names as they are encoded.
      issuer: ca.subjectName,
      notBefore,
      notAfter: new Date(Math.min(Number(notAfter), Number(ca.notAfter))),
      publicKey,
      signingKey,
      signingAlgorithm: kind.signing,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        await AuthorityKeyIdentifierExtension.create(ca, false, crypto),
        ...extensions,
      ],
    },
    crypto,
  );
}

export function pemOf(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}
