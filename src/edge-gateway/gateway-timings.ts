import { limits } from '../core/limits.js';

/** Milliseconds that a gateway has patience for. */
export interface GatewayTimings {
  /** From a connection to its whole preamble. */
  readonly preambleMillis: number;
  /** From a preamble to a connection with whoever comes next. */
  readonly dialMillis: number;
  /** One attempt of these. */
  readonly connectMillis: number;
  /** One TLS handshake. */
  readonly handshakeMillis: number;
  /** From the first answer of somebody else than the planned node to the end of all attempts. */
  readonly distrustMillis: number;
  /** From the end of a stage to the end of its connections. */
  readonly lingerMillis: number;
}

export const defaultGatewayTimings: GatewayTimings = {
  preambleMillis: limits.edgePreambleMillis,
  dialMillis: limits.gatewayDialMillis,
  connectMillis: limits.gatewayConnectMillis,
  handshakeMillis: limits.gatewayHandshakeMillis,
  distrustMillis: limits.gatewayDistrustMillis,
  lingerMillis: limits.gatewayLingerMillis,
};
