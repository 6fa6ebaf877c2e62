import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../src/grpc/client.js';
import { initialise } from '../../src/orchestrator/initialise.js';
import { startOrchestrator } from '../../src/orchestrator/orchestrator.js';
import { readAuthorityFolder, writeAuthorityFolder } from '../../src/pki/authority-folder.js';
import { identityOf } from '../../src/pki/peer-identity.js';
import { runSecured } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);
const path = (name: string) => join(folder, name);
const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });
const hasOpenssl = (() => {
  try {
    return openssl('version').length > 0;
  } catch {
    return false;
  }
})();

interface Wanted {
  readonly key?: readonly string[];
  readonly extensions?: readonly string[];
  readonly days?: string;
}

const ca = 'basicConstraints=critical,CA:TRUE';
const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/** Makes `<name>.pem` and `<name>-key.pem`, self-signed. */
function make(name: string, { key = ec, extensions = [ca], days = '30' }: Wanted = {}) {
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const files = ['-keyout', `${name}-key.pem`, '-out', `${name}.pem`];
  openssl('req', '-x509', ...key, '-nodes', ...files, '-days', days, '-utf8', '-subj', '/O=Ünser/CN=our CA', ...added);
  return { certificate: path(`${name}.pem`), key: path(`${name}-key.pem`) };
}

async function initialisedWith(ownCa: { certificate: string; key: string }) {
  const dataFolder = temporaryFolder();
  return { dataFolder, done: await initialise({ dataFolder, names: [], force: false, ownCa }) };
}

describe.skipIf(!hasOpenssl)('a CA that openssl has made', () => {
  test.each<[string, Wanted]>([
    ['EC P-256', {}],
    [
      'EC P-384 that makes no other CAs',
      {
        key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
        extensions: [`${ca},pathlen:0`, 'keyUsage=critical,keyCertSign,cRLSign'],
      },
    ],
    ['RSA', { key: ['-newkey', 'rsa:2048'] }],
    ['RSA that makes no other CAs', { key: ['-newkey', 'rsa:3072'], extensions: [`${ca},pathlen:0`] }],
  ])('signs for everyone: %s', async (_what, wanted) => {
    const { dataFolder, done } = await initialisedWith(make('good', wanted));
    expect(done.kind).toBe('initialised');
    const orchestrator = await runSecured({ dataFolder });
    const { credentials } = await orchestrator.enrol('viewer', 'vera');
    const client = orchestrator.call(OrchestratorServiceClient, credentials);
    expect((await unaryCall(client, Service.listNodes, { pageSize: 0, pageToken: '' })).nodes).toEqual([]);
    writeFileSync(path('leaf.pem'), credentials.certificate);
    expect(openssl('verify', '-CAfile', 'good.pem', 'leaf.pem').toString()).toContain('OK');
    // As it is encoded, which is how some TLS stacks compare it.
    const subject = openssl(
      'x509',
      '-in',
      'good.pem',
      '-noout',
      '-subject',
      '-nameopt',
      'RFC2253,dump_all,dump_der',
    ).toString();
    const issuer = openssl(
      'x509',
      '-in',
      'leaf.pem',
      '-noout',
      '-issuer',
      '-nameopt',
      'RFC2253,dump_all,dump_der',
    ).toString();
    expect(issuer.replace('issuer', 'subject')).toBe(subject);
  });

  test('may bring its key as SEC 1, and text before its certificate', async () => {
    const own = make('old');
    openssl('ec', '-in', 'old-key.pem', '-out', 'sec1.pem');
    openssl('x509', '-in', 'old.pem', '-text', '-out', 'text.pem');
    const { done } = await initialisedWith({ certificate: path('text.pem'), key: path('sec1.pem') });
    expect(own.key && done.kind).toBe('initialised');
  });

  test.each<[string, () => { certificate: string; key: string }, string]>([
    [
      'no CA',
      () => make('leaf', { extensions: ['basicConstraints=CA:FALSE'] }),
      'leaf.pem is not the certificate of a CA',
    ],
    [
      'another key',
      () => ({ ...make('one'), key: make('two').key }),
      'one.pem cannot be used (its certificate and its key do not belong together)',
    ],
    [
      'a key of another kind',
      () => ({ ...make('one'), key: make('rsa', { key: ['-newkey', 'rsa:2048'] }).key }),
      'do not belong together',
    ],
    [
      'Ed25519',
      () => make('ed', { key: ['-newkey', 'ed25519'] }),
      'its key is neither ECDSA with P-256, P-384 or P-521 nor RSA of 2048 bits or more',
    ],
    ['RSA of 1024 bits', () => make('weak', { key: ['-newkey', 'rsa:1024'] }), 'nor RSA of 2048 bits or more'],
    [
      'a usage that signs nothing',
      () => make('usage', { extensions: [ca, 'keyUsage=critical,digitalSignature'] }),
      'usage.pem is not the certificate of a CA: name one with basicConstraints CA:TRUE and, if it has a keyUsage, keyCertSign',
    ],
    [
      'an encrypted key',
      encrypted,
      'encrypted.pem is encrypted, and a daemon cannot ask for its passphrase: decrypt it with `openssl pkey',
    ],
    ['an old one', expired, 'expired.pem has expired on '],
    [
      'one of another CA',
      intermediate,
      'chain.pem is a CA that another CA has signed, and whoever else that one signs would be let in too',
    ],
    [
      'its key as certificate',
      () => ({ certificate: make('one').key, key: path('one-key.pem') }),
      'one-key.pem has no certificate in PEM',
    ],
    [
      'its certificate as key',
      () => ({ certificate: make('one').certificate, key: path('one.pem') }),
      'one.pem has no private key in PEM',
    ],
    [
      'no file',
      () => ({ certificate: path('missing.pem'), key: path('missing.pem') }),
      'missing.pem cannot be read (ENOENT',
    ],
  ])('is refused in a sentence: %s', async (_what, files, sentence) => {
    const { dataFolder, done } = await initialisedWith(files());
    expect(done).toMatchObject({ kind: 'refused', reason: 'CA_UNUSABLE', message: expect.stringContaining(sentence) });
    expect((await readAuthorityFolder(dataFolder)).kind).toBe('missing');
  });

  test('starts no orchestrator once it has expired', async () => {
    const { dataFolder } = await initialisedWith(make('fine'));
    const read = await readAuthorityFolder(dataFolder);
    if (read.kind !== 'read') throw new Error('there is no CA');
    // What a day does to it: the same key and name, an end that has passed.
    openssl(
      'x509',
      '-in',
      'fine.pem',
      '-signkey',
      'fine-key.pem',
      '-days',
      '-1',
      '-extfile',
      extensionFile(),
      '-out',
      'fine-old.pem',
    );
    const certificate = openssl('x509', '-in', 'fine-old.pem').toString();
    const privateKey = openssl('pkey', '-in', 'fine-key.pem').toString();
    const { server } = read.own;
    writeAuthorityFolder(dataFolder, { ca: { certificate, privateKey }, server, admin: server }, 'before');
    const config = { listen: '127.0.0.1:0', dataFolder, models: [], insecure: false };
    const start = startOrchestrator({ ...config, timings: {} as never, logger: { info() {} } as never });
    await expect(start).rejects.toMatchObject({
      reason: 'CA_EXPIRED',
      message: expect.stringContaining('init --force'),
    });
  });

  test('lets in whoever shows a certificate that it signed elsewhere for a role, and nobody else', async () => {
    const { dataFolder } = await initialisedWith(make('outside'));
    const orchestrator = await runSecured({ dataFolder });
    const issued = (subject: string) => {
      openssl('req', ...ec, '-nodes', '-keyout', 'theirs-key.pem', '-out', 'theirs.csr', '-subj', subject);
      openssl(
        'x509',
        '-req',
        '-in',
        'theirs.csr',
        '-CA',
        'outside.pem',
        '-CAkey',
        'outside-key.pem',
        '-CAcreateserial',
        '-days',
        '1',
        '-out',
        'theirs.pem',
      );
      const [certificate, privateKey] = ['x509', 'pkey'].map((kind) =>
        openssl(kind, '-in', kind === 'x509' ? 'theirs.pem' : 'theirs-key.pem').toString(),
      );
      return { ca: orchestrator.operator.credentials.ca, certificate: certificate!, privateKey: privateKey! };
    };
    const list = (subject: string) => {
      const client = orchestrator.call(OrchestratorServiceClient, issued(subject));
      return unaryCall(client, Service.listNodes, { pageSize: 0, pageToken: '' });
    };
    expect((await list('/O=viewer/CN=viewer:vera')).nodes).toEqual([]);
    await expect(list('/O=somebody/CN=vera')).rejects.toMatchObject({ reason: 'NO_IDENTITY' });
    await expect(list('/CN=viewer:vera')).rejects.toMatchObject({ reason: 'NO_IDENTITY' });
    await expect(list('/O=viewer/O=admin/CN=viewer:vera')).rejects.toMatchObject({ reason: 'NO_IDENTITY' });
    expect(identityOf(issued('/O=launcher/CN=viewer:vera').certificate)).toBeUndefined();
  });
});

function encrypted() {
  const own = make('plain');
  openssl('pkey', '-in', 'plain-key.pem', '-aes256', '-passout', 'pass:secret', '-out', 'encrypted.pem');
  return { ...own, key: path('encrypted.pem') };
}

function extensionFile(): string {
  writeFileSync(path('ca.ext'), `${ca}\n`);
  return 'ca.ext';
}

function expired() {
  const own = make('expiring');
  openssl(
    'x509',
    '-in',
    'expiring.pem',
    '-signkey',
    'expiring-key.pem',
    '-days',
    '-1',
    '-extfile',
    extensionFile(),
    '-out',
    'expired.pem',
  );
  return { ...own, certificate: path('expired.pem') };
}

/** A file with an intermediate CA and its root below it, as they are often handed out. */
function intermediate() {
  make('root');
  openssl('req', ...ec, '-nodes', '-keyout', 'between-key.pem', '-out', 'between.csr', '-subj', '/CN=between');
  openssl(
    'x509',
    '-req',
    '-in',
    'between.csr',
    '-CA',
    'root.pem',
    '-CAkey',
    'root-key.pem',
    '-CAcreateserial',
    '-days',
    '1',
    '-extfile',
    extensionFile(),
    '-out',
    'between.pem',
  );
  const pems = ['between.pem', 'root.pem'].map((name) => openssl('x509', '-in', name).toString());
  writeFileSync(path('chain.pem'), pems.join(''));
  return { certificate: path('chain.pem'), key: path('between-key.pem') };
}
