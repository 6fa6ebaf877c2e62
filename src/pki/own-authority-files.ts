import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type AuthorityFiles, readAuthority } from './authority.js';

export type OwnAuthorityRead =
  | { readonly kind: 'read'; readonly files: AuthorityFiles }
  /** `message` is a whole sentence. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Reads a CA that somebody made elsewhere, such as with openssl, and writes it as ours are: one certificate, and a key as
 * PKCS #8.
 *
 * @param paths of its two files in PEM
 * @param now milliseconds since 1970
 */
export async function readOwnAuthority(
  paths: { readonly certificate: string; readonly key: string },
  now: number,
): Promise<OwnAuthorityRead> {
  const certificate = readCertificate(paths.certificate, now);
  if (certificate.kind === 'refused') return certificate;
  const key = readKey(paths.key);
  if (key.kind === 'refused') return key;
  const files = { certificate: certificate.pem, privateKey: key.pem };
  const problem = await readAuthority(files).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (problem === undefined) return { kind: 'read', files };
  return refuse(`the CA of ${paths.certificate} cannot be used (${problem}): name another CA and its key, in PEM`);
}

type PemRead = { readonly kind: 'read'; readonly pem: string } | Extract<OwnAuthorityRead, { kind: 'refused' }>;

function readCertificate(path: string, now: number): PemRead {
  const text = textOf(path);
  if (typeof text !== 'string') return text;
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(text);
  } catch {
    return refuse(`${path} has no certificate in PEM: name that of a CA with --ca-cert`);
  }
  const problem = problemOf(certificate, now);
  if (problem !== undefined) return refuse(`${path} ${problem}`);
  return { kind: 'read', pem: certificate.toString() };
}

/** What makes a certificate no CA for us, as a clause. */
function problemOf(certificate: X509Certificate, now: number): string | undefined {
  if (!certificate.ca) {
    return 'is not the certificate of a CA: name one with basicConstraints CA:TRUE and, if it has a keyUsage, keyCertSign';
  }
  const isRoot = certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
  if (!isRoot) {
    return 'is a CA that another CA has signed, and whoever else that one signs would be let in too: name a CA that has signed itself, made for this alone';
  }
  if (Date.parse(certificate.validTo) <= now) return `has expired on ${certificate.validTo}: name a CA that is good`;
  if (Date.parse(certificate.validFrom) <= now) return undefined;
  return `is not good before ${certificate.validFrom}: wait until then, or set the clock of this machine`;
}

function readKey(path: string): PemRead {
  const text = textOf(path);
  if (typeof text !== 'string') return text;
  try {
    // With SEC 1 and PKCS #1, which openssl writes too, read as well.
    return { kind: 'read', pem: createPrivateKey(text).export({ type: 'pkcs8', format: 'pem' }).toString() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MISSING_PASSPHRASE' || text.includes('ENCRYPTED')) {
      return refuse(
        `${path} is encrypted, and a daemon cannot ask for its passphrase: decrypt it with \`openssl pkey -in ${path} -out FILE\`, and name that with --ca-key`,
      );
    }
    return refuse(`${path} has no private key in PEM: name that of the CA with --ca-key`);
  }
}

function textOf(path: string): string | Extract<OwnAuthorityRead, { kind: 'refused' }> {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return refuse(`${path} cannot be read (${(error as Error).message}): name the CA with --ca-cert and --ca-key`);
  }
}

function refuse(message: string): Extract<OwnAuthorityRead, { kind: 'refused' }> {
  return { kind: 'refused', message };
}
