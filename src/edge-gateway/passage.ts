import type { Socket } from 'node:net';
import { type Dial, type DialFailure, dialOnward } from './dial-onward.js';
import type { Arrival } from './doorway.js';
import { splice } from './splice.js';

/** Where a passage is; it only goes forward. */
export type PassagePhase = 'dialing' | 'spliced' | 'over';

/** One connection on its way through a gateway, from its preamble to its end. */
export class Passage {
  readonly #arrived: Socket;
  readonly #abort = new AbortController();
  #onward: Socket | undefined;
  #phase: PassagePhase = 'dialing';
  #linger: NodeJS.Timeout | undefined;

  /** Resolves when both sockets are closed. */
  readonly over: Promise<void>;

  /** Begins to dial at once; `onFailure` tells that whoever comes next was not reached in time. */
  constructor(
    readonly arrival: Arrival,
    readonly dial: Dial,
    readonly onFailure: (failure: DialFailure) => void,
  ) {
    this.#arrived = arrival.socket;
    this.over = this.#run();
  }

  get phase(): PassagePhase {
    return this.#phase;
  }

  /** Bytes that were read and not written yet. */
  get heldBytes(): number {
    const sockets = this.#onward === undefined ? [this.#arrived] : [this.#arrived, this.#onward];
    return sockets.reduce((sum, { readableLength, writableLength }) => sum + readableLength + writableLength, 0);
  }

  /** Ends it now, whatever is on its way. */
  stop(): void {
    this.#abort.abort();
    this.#arrived.destroy();
    this.#onward?.destroy();
  }

  /** Its stage has ended: what is on its way may still arrive, for a moment. */
  stopSoon(): void {
    if (this.#phase === 'dialing') this.stop();
    else this.#linger ??= setTimeout(() => this.stop(), this.dial.timings.lingerMillis);
  }

  async #run(): Promise<void> {
    const unwatch = watchForEnd(this.#arrived, () => this.#abort.abort());
    const dialled = await dialOnward(this.dial, this.#abort.signal);
    unwatch();
    if (dialled.kind === 'connected') {
      this.#onward = dialled.socket;
      this.#join(dialled.socket);
    } else {
      this.#arrived.destroy();
      if (dialled.kind !== 'aborted') this.onFailure(dialled);
    }
    await Promise.all([closing(this.#arrived), this.#onward && closing(this.#onward)]);
    clearTimeout(this.#linger);
    this.#phase = 'over';
  }

  #join(onward: Socket): void {
    if (this.#arrived.destroyed) {
      onward.destroy();
      return;
    }
    this.#phase = 'spliced';
    onward.write(this.arrival.preamble);
    splice(this.#arrived, onward);
  }
}

/**
 * Tells when a socket ends that nobody reads: its producer has given up. A producer says nothing before it is taken; one
 * that does is left alone and holds one chunk.
 */
function watchForEnd(socket: Socket, onEnd: () => void): () => void {
  const onData = (chunk: Buffer): void => {
    socket.off('data', onData);
    socket.pause();
    socket.unshift(chunk);
  };
  socket.on('data', onData);
  socket.on('end', onEnd);
  socket.on('close', onEnd);
  socket.resume();
  return () => {
    socket.off('data', onData);
    socket.off('end', onEnd);
    socket.off('close', onEnd);
    socket.pause();
  };
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
