import type { Socket } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { readNodeId } from '../pki/node-id.js';
import { type Distrust, distrustOf } from './distrust.js';
import type { EdgeTls } from './edge-tls.js';
import { gatewayFlags } from './gateway-flags.js';

/** Whom to meet over TLS. */
export interface PlannedNode {
  readonly tls: EdgeTls;
  readonly nodeId: bigint;
}

export type Handshake =
  | { readonly kind: 'secured'; readonly socket: TLSSocket }
  | { readonly kind: 'distrusted'; readonly distrust: Distrust };

/**
 * Makes a connection that was dialled one over mutual TLS with the planned node, known by its certificate and not by where it
 * was found. Ends the connection when it is another, or in `millis` milliseconds.
 */
export function shakeHands(
  raw: Socket,
  { tls, nodeId }: PlannedNode,
  millis: number,
  signal: AbortSignal,
): Promise<Handshake> {
  return new Promise((resolve) => {
    let stranger: Distrust | undefined;
    const socket = connect({
      socket: raw,
      secureContext: tls.context,
      rejectUnauthorized: true,
      servername: '',
      checkServerIdentity: (_host, certificate) => {
        stranger = strangerOf(certificate, nodeId);
        return stranger && new Error(stranger.problem);
      },
    });
    const settle = () => {
      clearTimeout(patience);
      signal.removeEventListener('abort', abort);
    };
    const fail = (code: string) => {
      settle();
      socket.destroy();
      resolve({ kind: 'distrusted', distrust: stranger ?? distrustOf(code) });
    };
    const abort = () => socket.destroy();
    signal.addEventListener('abort', abort);
    const patience = setTimeout(() => fail('ERR_TLS_HANDSHAKE_TIMEOUT'), millis);
    // Stays: every later error is followed by a close.
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.on('close', () => fail('ECONNRESET'));
    socket.once('secureConnect', () => {
      settle();
      resolve({ kind: 'secured', socket });
    });
  });
}

function strangerOf(certificate: PeerCertificate, planned: bigint): Distrust | undefined {
  const found = readNodeId(certificate);
  if (found === planned) return undefined;
  const whose = found === undefined ? 'the certificate of no node' : `the certificate of node ${found}`;
  const advice = `correct ${gatewayFlags.address} ${planned}=host:port or ${gatewayFlags.template}`;
  return { kind: 'other-node', problem: `has ${whose}: ${advice}` };
}
