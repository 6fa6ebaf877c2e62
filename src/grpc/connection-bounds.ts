import { limits } from '../core/limits.js';
import type { ConnectionBounds } from './connections.js';
import { firstCallMillis, lastWordsMillis } from './patience.js';

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

/** Of a socket that its owner alone may open: the only bound is one against accidents. */
export const localBounds: ConnectionBounds = {
  total: limits.connectionsPerAddress,
  perAddress: limits.connectionsPerAddress,
  strangers: limits.connectionsPerAddress,
  firstCallMillis: undefined,
  lastWordsMillis,
};
