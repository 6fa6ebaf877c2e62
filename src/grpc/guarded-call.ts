import { constants, type ServerHttp2Stream } from 'node:http2';
import { ServerInterceptingCall, type ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { TokenBucket } from '../core/token-bucket.js';
import { unreadMillis } from './patience.js';
import type { RpcError } from './rpc-error.js';
import { serverStatus } from './server-status.js';

/** grpc-js has no name for it. */
type Status = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

/**
 * A call whose client is held to a pace. One that leaves what it is sent lie is reset, since a status would only queue behind
 * the messages that it does not read: without that an answer of megabytes stays in memory for as long as the client likes (I16).
 */
export class GuardedCall extends ServerInterceptingCall {
  private unread = 0;
  private timer: NodeJS.Timeout | undefined;
  private over = false;

  /** @param refusal what it is answered with, before anybody hears of it */
  constructor(
    private readonly wire: ServerInterceptingCallInterface,
    requestStream: boolean,
    refusal: RpcError | undefined,
  ) {
    const onCancel = () => this.finish();
    const listener = {
      onCancel,
      ...(requestStream && { onReceiveMessage: paced() }),
      ...(refusal && { onReceiveMetadata: () => this.sendStatus(serverStatus(refusal)) }),
    };
    super(wire, { start: (next) => next(listener) });
  }

  override sendMessage(message: unknown, callback: () => void): void {
    this.expectReading();
    super.sendMessage(message, () => {
      this.wasRead();
      callback();
    });
  }

  override sendStatus(status: Status): void {
    this.expectReading();
    super.sendStatus(status);
  }

  private expectReading(): void {
    this.unread += 1;
    if (!this.over) this.timer ??= setTimeout(() => this.reset(), unreadMillis).unref();
  }

  private wasRead(): void {
    this.unread -= 1;
    if (this.unread === 0) this.stopWaiting();
    else this.timer?.refresh();
  }

  private finish(): void {
    this.over = true;
    this.stopWaiting();
  }

  private stopWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private reset(): void {
    // Clients make RESOURCE_EXHAUSTED of the code. Nothing public of grpc-js ends a call whose client does not read.
    const { stream } = this.wire as unknown as { stream: ServerHttp2Stream };
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

/** Hands messages on at the pace of an honest client. Until one is handed on, grpc-js reads no further. */
function paced(): (message: unknown, next: (message: unknown) => void) => void {
  const rate = { burst: limits.messagesAtOnce, perSecond: limits.messagesPerSecond };
  const bucket = new TokenBucket(rate, performance.now());
  return (message, next) => {
    const hand = () => {
      const wait = bucket.take(performance.now());
      if (wait === 0) next(message);
      else setTimeout(hand, wait).unref();
    };
    hand();
  };
}
