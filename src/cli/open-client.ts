import { type Client, logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { dial } from '../grpc/client.js';

/** A client whose library keeps quiet: it would write to stderr in a format of its own, among our JSON too. */
export function openClient<C extends Client>(address: string, type: Parameters<typeof dial<C>>[1]): C {
  if (!process.env.GRPC_VERBOSITY) setLogVerbosity(logVerbosity.NONE);
  return dial(address, type);
}
