import { limits } from '../core/limits.js';
import type { ConnectionBounds } from './connections.js';
import { firstCallMillis, firstRequestMillis, lastWordsMillis } from './patience.js';

/** Of the port of launchers and agents. */
export const publicBounds: ConnectionBounds = {
  total: limits.connections,
  perAddress: limits.connectionsPerAddress,
  strangers: limits.strangers,
  firstCallMillis,
  lastWordsMillis,
};

/** Of the port where tokens are redeemed. */
export const enrollBounds: ConnectionBounds = {
  total: limits.enrollConnections,
  perAddress: limits.enrollConnectionsPerAddress,
  strangers: limits.enrollConnections,
  firstCallMillis,
  lastWordsMillis,
};

/** Of the HTTP port: strangers are those without a request that was let in, such as a page that asks for a key. */
export const httpBounds: ConnectionBounds = {
  total: limits.httpConnections,
  // A proxy brings them all from its own.
  perAddress: limits.httpConnections,
  strangers: limits.httpStrangers,
  firstCallMillis: firstRequestMillis,
  lastWordsMillis,
};

/** Of a socket that its owner alone may open: the only bound is one against accidents. */
export const localBounds: ConnectionBounds = {
  total: limits.connectionsPerAddress,
  perAddress: limits.connectionsPerAddress,
  strangers: limits.connectionsPerAddress,
  firstCallMillis: undefined,
  lastWordsMillis,
};
