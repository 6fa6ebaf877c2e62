import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../core/limits.js';
import { type DistrustKind, isDefinite } from './distrust.js';
import { type EdgeAddress, formatEdgeAddress } from './edge-address.js';
import type { GatewayTimings } from './gateway-timings.js';
import { type PlannedNode, shakeHands } from './shake-hands.js';
import { socketOptions } from './socket-options.js';

export type DialOutcome =
  | { readonly kind: 'connected'; readonly socket: Socket }
  | DialFailure
  /** The signal said so. */
  | { readonly kind: 'aborted' };

/** `problem` is the last attempt's, and goes on a sentence. */
export type DialFailure =
  | { readonly kind: 'unreachable'; readonly problem: string }
  /** Somebody answers, and is not the planned node, or does not show it. */
  | { readonly kind: 'distrusted'; readonly reason: DistrustKind; readonly problem: string };

type Attempt = { readonly kind: 'connected'; readonly socket: Socket } | DialFailure;

/** What a dial needs to know. */
export interface Dial {
  /** Asked before each attempt: an address may become known, and a name may move. */
  readonly onward: () => EdgeAddress | undefined;
  /** Who has to be met there, over mutual TLS; plain without it, and always at a Unix path of this user's own. */
  readonly planned?: PlannedNode | undefined;
  readonly timings: GatewayTimings;
  /** It takes longer than the start of two neighbours explains. At most every `limits.gatewayBackoffMaxMillis`. */
  onTrouble(problem: string): void;
}

/** Connects to where `onward` points; tries until `dialMillis` are over, or `distrustMillis` with the wrong one there. */
export async function dialOnward(dial: Dial, signal: AbortSignal): Promise<DialOutcome> {
  const { dialMillis, distrustMillis } = dial.timings;
  const deadline = performance.now() + dialMillis;
  let wrongSince: number | undefined;
  let wait: number = limits.gatewayBackoffMinMillis;
  while (!signal.aborted) {
    const attempt = await attemptOf(dial, signal);
    if (attempt.kind === 'connected') return attempt;
    const next = performance.now() + wait;
    const isWrong = attempt.kind === 'distrusted' && isDefinite(attempt.reason);
    wrongSince = isWrong ? (wrongSince ?? performance.now()) : undefined;
    if (next > deadline || next > (wrongSince ?? next) + distrustMillis) return attempt;
    if (wait === limits.gatewayBackoffMaxMillis) dial.onTrouble(attempt.problem);
    await delay(wait, undefined, { signal }).catch(() => {});
    wait = Math.min(wait * 2, limits.gatewayBackoffMaxMillis);
  }
  return { kind: 'aborted' };
}

async function attemptOf({ onward, planned, timings }: Dial, signal: AbortSignal): Promise<Attempt> {
  const address = onward();
  if (address === undefined) return { kind: 'unreachable', problem: 'no stage of this node consumes it' };
  const secured = address.kind === 'tcp' ? planned : undefined;
  if (secured?.tls.isExpired) return { kind: 'distrusted', reason: 'expired', problem: OWN_EXPIRED };
  const socket = connect({ ...socketOptions, ...targetOf(address) });
  // Every error is followed by a close.
  socket.on('error', () => {});
  const { connectMillis, handshakeMillis } = timings;
  socket.setTimeout(connectMillis, () => socket.destroy(new Error(`no answer in ${connectMillis} ms`)));
  const where = formatEdgeAddress(address);
  try {
    await once(socket, 'connect', { signal });
  } catch (error) {
    socket.destroy();
    return { kind: 'unreachable', problem: `${where}: ${(error as Error).message}` };
  }
  socket.setTimeout(0);
  if (secured === undefined) return { kind: 'connected', socket };
  const shaken = await shakeHands(socket, secured, handshakeMillis, signal);
  if (shaken.kind === 'secured') return { kind: 'connected', socket: shaken.socket };
  const { kind: reason, problem } = shaken.distrust;
  return { kind: 'distrusted', reason, problem: `who answers at ${where} ${problem}` };
}

const OWN_EXPIRED =
  "this node's own certificate has expired: see in its log why it was not renewed, or join it anew with a token";

function targetOf(address: EdgeAddress): NetConnectOpts {
  return address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port };
}
