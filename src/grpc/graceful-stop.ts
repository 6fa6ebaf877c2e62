import { status } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import type { Health } from './health.js';
import type { Listener } from './listener.js';
import type { OpenStreams } from './open-streams.js';
import { RpcError } from './rpc-error.js';

export interface GracefulStop {
  /** Everything that the server was bound to. */
  readonly listeners: readonly Listener[];
  readonly streams: OpenStreams;
  readonly health?: Health;
  /** Writes `GoAway` on every agent session; whatever is written here still goes out. */
  readonly sendGoAway?: () => void;
  /** Milliseconds that calls in flight get; default `limits.stopServerMillis`. */
  readonly patienceMillis?: number;
}

/**
 * Stops a server: health says NOT_SERVING, sessions hear `GoAway`, no new connection is taken, streams end with
 * UNAVAILABLE, calls in flight may finish, and after the patience whatever is left is cut.
 *
 * @returns whether everything ended by itself
 */
export async function gracefulStop(stop: GracefulStop): Promise<'drained' | 'forced'> {
  const { listeners, streams, health, sendGoAway, patienceMillis = limits.stopServerMillis } = stop;
  health?.setNotServing();
  sendGoAway?.();
  // Its timer before those of the listeners: what they cut has not ended by itself.
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<'forced'>((resolve) => {
    timer = setTimeout(() => resolve('forced'), patienceMillis);
  });
  const drained = Promise.all(listeners.map((listener) => listener.drain(patienceMillis))).then(
    () => 'drained' as const,
  );
  // After the listener is closed, so that a client that reconnects at once does not come back here.
  streams.failAll(
    new RpcError(status.UNAVAILABLE, 'SHUTTING_DOWN', 'the orchestrator is stopping; connect again in a moment'),
  );
  const outcome = await Promise.race([drained, patience]);
  clearTimeout(timer);
  return outcome;
}
