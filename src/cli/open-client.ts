import { type Client, logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { dial } from '../grpc/client.js';
import { clientOptions } from '../grpc/client-options.js';
import { type FoundCredentials, shown } from '../pki/find-credentials.js';

/**
 * A client that shows what this user has for the address. Its library keeps quiet: it would write to stderr in a format of its
 * own, among our JSON too.
 */
export function openClient<C extends Client>(
  address: string,
  type: Parameters<typeof dial<C>>[1],
  found?: FoundCredentials,
): C {
  if (!process.env.GRPC_VERBOSITY) setLogVerbosity(logVerbosity.NONE);
  return dial(address, type, clientOptions, shown(found));
}
