import { status } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { RpcError } from './rpc-error.js';
import { type ServerStatus, serverStatus } from './server-status.js';

/** How a stream was left, for whoever waits on it. */
export type StreamEnd =
  /** `end` was called and everything before it was handed over. */
  | { readonly kind: 'ended' }
  /** `fail` was called, or the writer dropped a slow consumer. */
  | { readonly kind: 'failed'; readonly error: RpcError }
  /** The client went away or its deadline passed. Means nothing by itself: only `Goodbye` is intent. */
  | { readonly kind: 'gone' };

/** What a writer needs of a call, of grpc-js or of this process. */
export interface WritableCall<T> {
  readonly cancelled: boolean;
  /** False when the reader is behind: `drain` says when it has caught up. */
  write(message: T): boolean;
  end(): unknown;
  on(event: 'drain', listener: () => void): unknown;
  once(event: 'cancelled' | 'close', listener: () => void): unknown;
  /** Ends the call with this status. */
  emit(event: 'error', status: ServerStatus): boolean;
}

/**
 * The only hand that writes to a server's stream. Keeps the order, holds at most `limit` messages for a slow consumer
 * and then drops it (I16), and writes nothing after the end: grpc-js would lose the status.
 */
export class StreamWriter<T> {
  /** Settles once, when nothing more can be written; never rejects. */
  readonly closed: Promise<StreamEnd>;

  private queue: T[] = [];
  private blocked = false;
  private state: 'open' | 'ending' | 'over' = 'open';
  private wakers: (() => void)[] = [];
  private settle!: (end: StreamEnd) => void;

  constructor(
    private readonly call: WritableCall<T>,
    private readonly limit: number = limits.queuedPerStream,
  ) {
    this.closed = new Promise((resolve) => {
      this.settle = resolve;
    });
    // A write after a cancel returns true and never calls back, so the wait for `drain` must lose to the end of the call.
    call.on('drain', () => this.flush());
    call.once('cancelled', () => this.leave({ kind: 'gone' }));
    call.once('close', () => this.leave({ kind: 'gone' }));
    if (call.cancelled) this.leave({ kind: 'gone' });
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  /** Messages that wait for the client. */
  get queued(): number {
    return this.queue.length;
  }

  /** Sends or queues one message. False when the stream is over, or was dropped just now. */
  write(message: T): boolean {
    if (this.state !== 'open') return false;
    if (!this.blocked) {
      this.blocked = !this.call.write(message);
      return true;
    }
    if (this.queue.length < this.limit) {
      this.queue.push(message);
      return true;
    }
    this.fail(slowConsumer(this.limit));
    return false;
  }

  /** Resolves when the client has caught up or the stream is over: for a producer with more to say than `limit`. */
  ready(): Promise<void> {
    if (!this.blocked || this.state === 'over') return Promise.resolve();
    return new Promise((resolve) => this.wakers.push(resolve));
  }

  /** Ends the stream with OK after everything queued. */
  end(): void {
    if (this.state !== 'open') return;
    this.state = 'ending';
    if (this.queue.length === 0) this.finish();
  }

  /** Ends the stream with an error now; what is still queued here is dropped, what grpc-js holds goes out first. */
  fail(error: RpcError): void {
    if (this.state === 'over') return;
    // Left first: whoever listens to the error must find the stream over.
    this.leave({ kind: 'failed', error });
    this.call.emit('error', serverStatus(error));
  }

  private flush(): void {
    if (this.state === 'over') return;
    this.blocked = false;
    let sent = 0;
    for (const message of this.queue) {
      sent += 1;
      if (!this.call.write(message)) {
        this.blocked = true;
        break;
      }
    }
    this.queue = this.queue.slice(sent);
    if (this.queue.length > 0) return;
    if (this.state === 'ending') this.finish();
    else if (!this.blocked) this.wake();
  }

  private finish(): void {
    this.leave({ kind: 'ended' });
    this.call.end();
  }

  private leave(end: StreamEnd): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.queue = [];
    this.settle(end);
    this.wake();
  }

  private wake(): void {
    const wakers = this.wakers;
    this.wakers = [];
    for (const wake of wakers) wake();
  }
}

function slowConsumer(limit: number): RpcError {
  return new RpcError(
    status.RESOURCE_EXHAUSTED,
    'SLOW_CONSUMER',
    `the stream was dropped because ${limit} messages waited for its reader; read faster, and resume where you left off`,
    { metadata: { queuedMessages: String(limit) } },
  );
}
