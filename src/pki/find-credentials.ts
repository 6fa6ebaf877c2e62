import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ChannelCredentials, status } from '@grpc/grpc-js';
import { isLoopback } from '../grpc/listen-address.js';
import { RpcError } from '../grpc/rpc-error.js';
import { orchestratorCredentials } from '../grpc/tls-credentials.js';
import { type CredentialsRead, readCredentials } from './credential-folder.js';
import { authorityFolder } from './is-initialised.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where this user's certificate for an orchestrator is kept: `$XDG_CONFIG_HOME/stageplane/<host>_<port>`. */
export function clientFolder(address: string, environment: Environment = process.env): string {
  const config = environment.XDG_CONFIG_HOME || join(homedir(), '.config');
  return join(config, 'stageplane', address.replace(/[^\w.-]/g, '_'));
}

/**
 * What to show an orchestrator: what `stageplane join` has kept for its address, or on its own machine the operator's certificate.
 * Undefined, which is plain text, where there is neither. Throws RpcError when there is one that cannot be used.
 *
 * @param dataFolder of an orchestrator of this machine
 */
export function findCredentials(address: string, dataFolder: string): ChannelCredentials | undefined {
  if (address.startsWith('unix:')) return undefined;
  const kept = readCredentials(clientFolder(address), 'client');
  if (kept.kind !== 'missing' || !isLoopback(address)) return use(kept);
  return use(readCredentials(authorityFolder(dataFolder), 'admin'));
}

/** What an agent of this machine shows; undefined when it has joined nowhere. Throws as the other does. */
export function nodeCredentials(dataFolder: string): ChannelCredentials | undefined {
  return use(readCredentials(authorityFolder(dataFolder), 'agent'));
}

function use(read: CredentialsRead): ChannelCredentials | undefined {
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'refused') {
    throw new RpcError(status.FAILED_PRECONDITION, 'CREDENTIALS_UNUSABLE', read.message);
  }
  const { ca, ...own } = read.credentials;
  if (read.identity.notAfter > Date.now()) return orchestratorCredentials(ca, own);
  const message = `the certificate of "${read.identity.name}" has expired: join anew with \`stageplane join\``;
  throw new RpcError(status.FAILED_PRECONDITION, 'CERTIFICATE_EXPIRED', message);
}
