import { constants, type ServerHttp2Stream } from 'node:http2';
import { type Metadata, ServerInterceptingCall, type ServerInterceptingCallInterface, status } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { TokenBucket } from '../core/token-bucket.js';
import { unreadMillis } from './patience.js';
import { RpcError } from './rpc-error.js';
import { serverStatus } from './server-status.js';

/** grpc-js has no name for it. */
type Status = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

/** What grpc-js keeps to itself of a call; a test sees to it that it is there. */
interface Wire extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly incomingEncoding: string;
}

export interface CallGuards {
  /** Whether the client sends a stream of messages. */
  readonly requestStream: boolean;
  /** What the call is answered with before anybody hears of it. */
  readonly refusal?: RpcError | undefined;
  /** The client has taken the call back. */
  onReset(): void;
  /** The call is over, however it ended. */
  onOver(code: status): void;
}

/**
 * A call whose client is held to a pace. One that leaves what it is sent lie is reset, since a status would only queue behind
 * the messages that it does not read: without that an answer of megabytes stays in memory for as long as the client likes (I16).
 */
export class GuardedCall extends ServerInterceptingCall {
  private readonly wire: Wire;
  private unread = 0;
  private timer: NodeJS.Timeout | undefined;
  private state: 'open' | 'answered' | 'over' = 'open';
  /** What the client is told, unless it goes away before. */
  private code: status = status.CANCELLED;

  constructor(call: ServerInterceptingCallInterface, { requestStream, refusal, onReset, onOver }: CallGuards) {
    const wire = call as Wire;
    const listener = {
      onReceiveMetadata: (metadata: Metadata, next: (metadata: Metadata) => void) => {
        const refused = refusal ?? compressed(wire) ?? tooMuch(metadata);
        if (refused) this.sendStatus(serverStatus(refused));
        // A call that is taken back at once is over by then, and its handler never hears of it.
        else setImmediate(next, metadata);
      },
      onCancel: () => {
        if (this.state === 'open') onReset();
        this.finish();
        onOver(this.code);
      },
      ...(requestStream && { onReceiveMessage: paced() }),
    };
    super(call, { start: (next) => next(listener) });
    this.wire = wire;
  }

  override sendMessage(message: unknown, callback: () => void): void {
    this.expectReading();
    super.sendMessage(message, () => {
      this.wasRead();
      callback();
    });
  }

  override sendStatus(answer: Status): void {
    if (this.state === 'open') {
      this.state = 'answered';
      this.code = answer.code ?? status.UNKNOWN;
    }
    this.expectReading();
    super.sendStatus(answer);
  }

  private expectReading(): void {
    this.unread += 1;
    if (this.state !== 'over') this.timer ??= setTimeout(() => this.reset(), unreadMillis).unref();
  }

  private wasRead(): void {
    this.unread -= 1;
    if (this.unread === 0) this.stopWaiting();
    else this.timer?.refresh();
  }

  private finish(): void {
    this.state = 'over';
    this.stopWaiting();
  }

  private stopWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private reset(): void {
    this.state = 'answered';
    this.code = status.RESOURCE_EXHAUSTED;
    // Clients make RESOURCE_EXHAUSTED of the code.
    this.wire.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

/**
 * grpc-js inflates every message that has arrived at once, each up to the largest message: a window of 64 KB becomes 60 MB, and
 * as much for each stream.
 */
function compressed({ incomingEncoding }: Wire): RpcError | undefined {
  if (incomingEncoding === 'identity') return undefined;
  const message = 'compressed messages are not taken here: send them as they are, with the encoding identity';
  return new RpcError(status.UNIMPLEMENTED, 'COMPRESSION_UNSUPPORTED', message);
}

/** Node lets through as much as nine frames hold. */
function tooMuch(metadata: Metadata): RpcError | undefined {
  let bytes = 0;
  for (const [name, values] of Object.entries(metadata.toHttp2Headers())) {
    bytes += name.length + String(values).length;
  }
  if (bytes <= limits.metadataBytes) return undefined;
  const message = `the metadata of this call has over ${limits.metadataBytes} bytes: send less beside the request`;
  return new RpcError(status.RESOURCE_EXHAUSTED, 'METADATA_TOO_LARGE', message);
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
