import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ChannelCredentials, status } from '@grpc/grpc-js';
import { isLoopback } from '../grpc/listen-address.js';
import { RpcError } from '../grpc/rpc-error.js';
import { orchestratorCredentials } from '../grpc/tls-credentials.js';
import { type Credentials, readCredentials } from './credential-folder.js';
import { authorityFolder } from './is-initialised.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where this user's certificate for an orchestrator is kept: `$XDG_CONFIG_HOME/stageplane/<host>_<port>`. */
export function clientFolder(address: string, environment: Environment = process.env): string {
  const config = environment.XDG_CONFIG_HOME || join(homedir(), '.config');
  return join(config, 'stageplane', address.replace(/[^\w.-]/g, '_'));
}

/** A certificate that this user may show, and where it lies. */
export interface FoundCredentials {
  readonly folder: string;
  /** Of its file in the folder. */
  readonly file: 'client' | 'admin' | 'agent';
  readonly credentials: Credentials;
}

export interface Places {
  /** Of an orchestrator of this machine. */
  readonly dataFolder: string;
  /** The one that was named, if one was: then nothing else is looked at. */
  readonly folder?: string | undefined;
}

/**
 * What to show an orchestrator: what the named folder has, or else what `stageplane join` has kept for the address, or on its own
 * machine the operator's certificate. Undefined, which is plain text, where there is none. Throws RpcError when there is one that
 * cannot be used.
 */
export function findCredentials(address: string, { dataFolder, folder }: Places): FoundCredentials | undefined {
  if (address.startsWith('unix:')) return undefined;
  if (folder !== undefined) return findIn(folder);
  const kept = find(clientFolder(address), 'client');
  return kept || !isLoopback(address) ? kept : find(authorityFolder(dataFolder), 'admin');
}

/** What an agent of this machine shows; undefined when it has joined nowhere. Throws as the other does. */
export function nodeCredentials(dataFolder: string): FoundCredentials | undefined {
  return find(authorityFolder(dataFolder), 'agent');
}

/** For a channel. */
export function shown(found: FoundCredentials | undefined): ChannelCredentials | undefined {
  if (!found) return undefined;
  const { ca, ...own } = found.credentials;
  return orchestratorCredentials(ca, own);
}

/** Somebody who names a folder wants what is in it, and no plain text instead. */
function findIn(folder: string): FoundCredentials {
  const found = find(folder, 'client') ?? find(folder, 'admin');
  if (found) return found;
  const message = `${folder} has neither client.pem nor admin.pem: name the folder of \`stageplane join --credentials\`, or pki in the data folder of an orchestrator`;
  throw new RpcError(status.FAILED_PRECONDITION, 'CREDENTIALS_UNUSABLE', message);
}

function find(folder: string, file: FoundCredentials['file']): FoundCredentials | undefined {
  const read = readCredentials(folder, file);
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'refused') {
    throw new RpcError(status.FAILED_PRECONDITION, 'CREDENTIALS_UNUSABLE', read.message);
  }
  if (read.identity.notAfter > Date.now()) return { folder, file, credentials: read.credentials };
  const message = `the certificate of "${read.identity.name}" has expired: join anew with \`stageplane join\``;
  throw new RpcError(status.FAILED_PRECONDITION, 'CERTIFICATE_EXPIRED', message);
}
