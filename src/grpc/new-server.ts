import { Server, type ServerOptions } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { callGuard, type OnCallOver } from './call-guard.js';
import { CallRates } from './call-rates.js';
import { type ConnectionBounds, Connections } from './connections.js';
import { serverOptions } from './server-options.js';

/** A server and the connections that it will have; bind both together. */
export interface NewServer {
  readonly server: Server;
  readonly connections: Connections;
}

/** Who looks at its calls. */
interface Watch {
  readonly rates?: CallRates | undefined;
  readonly onCallOver?: OnCallOver | undefined;
}

/** @param options added to ours; its interceptors hear of a call when its connection and its pace were found good */
export function newServer(
  bounds: ConnectionBounds,
  logger: Logger,
  options: ServerOptions = {},
  { rates = new CallRates(), onCallOver = () => {} }: Watch = {},
): NewServer {
  const connections = new Connections(bounds, logger);
  const interceptors = [callGuard(connections, rates, onCallOver), ...(options.interceptors ?? [])];
  return { server: new Server({ ...serverOptions, ...options, interceptors }), connections };
}
