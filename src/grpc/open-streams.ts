import type { RpcError } from './rpc-error.js';
import type { StreamWriter } from './stream-writer.js';

/** Every stream that a server has open, so that a stop can end them all. Bounded by `limits.streamsPerConnection`. */
export class OpenStreams {
  private readonly streams = new Set<StreamWriter<never>>();
  private stopped: RpcError | undefined;

  get size(): number {
    return this.streams.size;
  }

  /** Remembers a stream until it is over. After `failAll` it ends at once. */
  add<T>(stream: StreamWriter<T>): void {
    if (this.stopped) {
      stream.fail(this.stopped);
      return;
    }
    // `fail` is all that is used here, and it takes no message.
    const entry = stream as unknown as StreamWriter<never>;
    this.streams.add(entry);
    void stream.closed.then(() => this.streams.delete(entry));
  }

  /** Ends every open stream, and each that opens later, with this error. */
  failAll(error: RpcError): void {
    this.stopped = error;
    for (const stream of this.streams) stream.fail(error);
  }
}
