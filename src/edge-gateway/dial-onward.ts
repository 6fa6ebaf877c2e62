import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../core/limits.js';
import { type EdgeAddress, formatEdgeAddress } from './edge-address.js';
import type { GatewayTimings } from './gateway-timings.js';
import { socketOptions } from './socket-options.js';

export type DialOutcome =
  | { readonly kind: 'connected'; readonly socket: Socket }
  /** `problem` is the last attempt's, and goes on a sentence. */
  | { readonly kind: 'unreachable'; readonly problem: string }
  /** The signal said so. */
  | { readonly kind: 'aborted' };

type Attempt = { readonly kind: 'connected'; readonly socket: Socket } | Failure;
type Failure = { readonly kind: 'failed'; readonly problem: string };

/** What a dial needs to know. */
export interface Dial {
  /** Asked before each attempt: an address may become known, and a name may move. */
  readonly onward: () => EdgeAddress | undefined;
  readonly timings: GatewayTimings;
  /** It takes longer than the start of two neighbours explains. At most every `limits.gatewayBackoffMaxMillis`. */
  onTrouble(problem: string): void;
}

/** Connects to where `onward` points; tries until `dialMillis` are over. */
export async function dialOnward(dial: Dial, signal: AbortSignal): Promise<DialOutcome> {
  const deadline = performance.now() + dial.timings.dialMillis;
  let wait: number = limits.gatewayBackoffMinMillis;
  while (!signal.aborted) {
    const attempt = await attemptOf(dial, signal);
    if (attempt.kind === 'connected') return attempt;
    if (performance.now() + wait > deadline) return { kind: 'unreachable', problem: attempt.problem };
    if (wait === limits.gatewayBackoffMaxMillis) dial.onTrouble(attempt.problem);
    await delay(wait, undefined, { signal }).catch(() => {});
    wait = Math.min(wait * 2, limits.gatewayBackoffMaxMillis);
  }
  return { kind: 'aborted' };
}

async function attemptOf({ onward, timings }: Dial, signal: AbortSignal): Promise<Attempt> {
  const address = onward();
  if (address === undefined) return { kind: 'failed', problem: 'no stage of this node consumes it' };
  const socket = connect({ ...socketOptions, ...targetOf(address) });
  // Every error is followed by a close.
  socket.on('error', () => {});
  const { connectMillis } = timings;
  socket.setTimeout(connectMillis, () => socket.destroy(new Error(`no answer in ${connectMillis} ms`)));
  try {
    await once(socket, 'connect', { signal });
    socket.setTimeout(0);
    return { kind: 'connected', socket };
  } catch (error) {
    socket.destroy();
    return { kind: 'failed', problem: `${formatEdgeAddress(address)}: ${(error as Error).message}` };
  }
}

function targetOf(address: EdgeAddress): NetConnectOpts {
  return address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port };
}
