import { type webcrypto, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeAuthority, readAuthority } from '../../src/pki/authority.js';
import { readRequest, requestCertificate } from '../../src/pki/certificate-request.js';
import { issueClient } from '../../src/pki/issue-client.js';
import { crypto, signingAlgorithm } from '../../src/pki/key-algorithm.js';
import { makeKeyPair } from '../../src/pki/key-pair.js';
import { identityOf } from '../../src/pki/peer-identity.js';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '../../src/pki/x509.js';

const now = 1_800_000_000_000;

async function requestOf(algorithm: { name: string; [part: string]: unknown }, signing: object): Promise<Uint8Array> {
  const keys = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const request = await Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: signing as never }, crypto);
  return new Uint8Array(request.rawData);
}

test.each([
  ['P-384', { name: 'ECDSA', namedCurve: 'P-384' }, { name: 'ECDSA', hash: 'SHA-384' }],
  [
    'RSA',
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ],
  ['Ed25519', { name: 'Ed25519' }, { name: 'Ed25519' }],
])('a request of a key of another kind is none: %s', async (_what, algorithm, signing) => {
  expect(await readRequest(await requestOf(algorithm, signing))).toBeUndefined();
});

test('a request with another byte is none, or still of the key that has signed it', async () => {
  const good = await requestCertificate(await makeKeyPair());
  const { digest } = (await readRequest(good))!;
  const kept: number[] = [];
  for (let at = 0; at < good.length; at += 1) {
    const changed = Uint8Array.from(good);
    changed[at]! ^= 0x01;
    const read = await readRequest(changed);
    if (!read) continue;
    expect(read.digest).toBe(digest);
    kept.push(at);
  }
  // Outside of what is signed: a length, and what the signature is said to be.
  expect(kept.length).toBeLessThan(4);
  expect(await readRequest(good.slice(0, -1))).toBeUndefined();
  expect(await readRequest(new Uint8Array())).toBeUndefined();
});

test('of a request the key is taken and nothing else: no name, no address, no right to sign', async () => {
  const { keys } = await makeKeyPair();
  const greedy = await Pkcs10CertificateRequestGenerator.create(
    {
      name: 'O=admin, CN=admin:mallory',
      keys,
      signingAlgorithm,
      extensions: [
        new BasicConstraintsExtension(true, 3, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
        new SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }]),
      ],
    },
    crypto,
  );
  const key = await readRequest(new Uint8Array(greedy.rawData));
  const authority = await readAuthority(await makeAuthority('4'.repeat(32), now));
  const subject = { role: 'viewer', name: 'vera', serial: '5'.repeat(32), now, lifetime: 1000 } as const;
  const pem = await issueClient(authority, key!, subject);
  const { ca, subjectAltName } = new X509Certificate(pem);
  expect({ ca, subjectAltName }).toEqual({ ca: false, subjectAltName: undefined });
  expect(identityOf(pem)).toMatchObject({ role: 'viewer', name: 'vera' });
});
