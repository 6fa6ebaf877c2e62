import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { limits } from '../core/limits.js';
import { makeAuthority, readAuthority } from '../pki/authority.js';
import { writeAuthorityFolder } from '../pki/authority-folder.js';
import { certificateDigest } from '../pki/certificate-digest.js';
import { readRequest, requestCertificate } from '../pki/certificate-request.js';
import { isInitialised } from '../pki/is-initialised.js';
import { issueClient } from '../pki/issue-client.js';
import { issueServer } from '../pki/issue-server.js';
import { makeKeyPair } from '../pki/key-pair.js';
import { readOwnAuthority } from '../pki/own-authority-files.js';
import { serialNumber } from '../pki/serial-number.js';
import { prepareDataFolder } from '../process/data-folder.js';
import { lockFolder } from '../process/folder-lock.js';

export interface InitialiseRequest {
  readonly dataFolder: string;
  /** Names and addresses by which other machines reach this one. */
  readonly names: readonly string[];
  /** Replaces what is there: everyone has to join anew. */
  readonly force: boolean;
  /** Files of a CA of one's own; a new one is made otherwise. */
  readonly ownCa?: { readonly certificate: string; readonly key: string } | undefined;
}

export type Initialised =
  | {
      readonly kind: 'initialised';
      readonly caDigest: string;
      readonly hosts: readonly string[];
      readonly replaced?: string;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/** Gives an orchestrator that does not run its certificates. */
export async function initialise(request: InitialiseRequest): Promise<Initialised> {
  const folder = prepareDataFolder(request.dataFolder);
  if (folder.kind === 'refused') return folder;
  const lock = lockFolder(folder.path);
  if (lock.kind === 'refused') return lock;
  try {
    return await initialiseIn(folder.path, request);
  } finally {
    lock.release();
  }
}

async function initialiseIn(folder: string, { names, force, ownCa }: InitialiseRequest): Promise<Initialised> {
  if (isInitialised(folder) && !force) {
    const message = `the data folder ${folder} was initialised already: start the orchestrator, add a name of it with --add-name, or make a new CA with --force, after which all join anew`;
    return { kind: 'refused', reason: 'ALREADY_INITIALISED', message };
  }
  const now = Date.now();
  const own = ownCa && (await readOwnAuthority(ownCa, now));
  if (own?.kind === 'refused') return { ...own, reason: 'CA_UNUSABLE' };
  const ca = own?.files ?? (await makeAuthority(drawSerial(), now));
  const authority = await readAuthority(ca);
  const hosts = [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...names])];
  const server = await issueServer(authority, { hosts, serial: drawSerial(), now });
  const admin = await makeKeyPair();
  const key = await readRequest(await requestCertificate(admin));
  if (!key) throw new Error('a certificate request of our own cannot be read');
  const subject = { role: 'admin', name: 'local', serial: drawSerial(), now, lifetime: limits.caMillis } as const;
  const certificate = await issueClient(authority, key, subject);
  const content = { ca, server, admin: { certificate, privateKey: admin.privateKey } };
  const written = writeAuthorityFolder(folder, content, `replaced-${new Date(now).toISOString().replace(/\D/g, '')}`);
  if (written.kind === 'refused') return { ...written, reason: 'NOT_WRITTEN' };
  return { ...written, kind: 'initialised', caDigest: certificateDigest(ca.certificate), hosts };
}

function drawSerial(): string {
  return serialNumber(randomBytes(16));
}
