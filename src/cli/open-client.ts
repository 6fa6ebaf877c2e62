import { type ChannelCredentials, type Client, logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { dial } from '../grpc/client.js';
import { clientOptions } from '../grpc/client-options.js';
import { findCredentials } from '../pki/find-credentials.js';
import { defaultDataFolder } from './config/default-folder.js';

/**
 * A client that shows what this user has for the address. Throws RpcError when that cannot be used. Its library keeps quiet:
 * it would write to stderr in a format of its own, among our JSON too.
 */
export function openClient<C extends Client>(address: string, type: Parameters<typeof dial<C>>[1]): C {
  if (!process.env.GRPC_VERBOSITY) setLogVerbosity(logVerbosity.NONE);
  return dial(address, type, clientOptions, credentialsFor(address));
}

/** What this user has for the address; undefined is plain text. Throws RpcError when it cannot be used. */
export function credentialsFor(address: string): ChannelCredentials | undefined {
  const dataFolder = process.env.STAGEPLANE_DATA || defaultDataFolder('orchestrator');
  return findCredentials(address, dataFolder);
}
