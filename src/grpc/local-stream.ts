import { Readable } from 'node:stream';
import { StreamWriter } from './stream-writer.js';

/** Messages that wait here before the writer's own queue begins to fill. */
const READ_AHEAD = 16;

/** What a StreamWriter writes to when its reader is in this process. */
export class LocalStream<Message> {
  readonly writer: StreamWriter<Message>;
  readonly #pipe: Pipe;

  constructor(signal: AbortSignal) {
    this.#pipe = new Pipe({ objectMode: true, highWaterMark: READ_AHEAD });
    // The reader hears of a failure from the writer, and a stream that nobody reads must not end the process.
    this.#pipe.on('error', () => {});
    const leave = () => this.#pipe.destroy();
    this.#pipe.once('close', () => signal.removeEventListener('abort', leave));
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    this.writer = new StreamWriter<Message>(this.#pipe);
    // It may have failed before anybody began to read.
    void this.writer.closed.then(({ kind }) => kind === 'failed' && leave());
  }

  /** Throws the RpcError that the stream failed with; ends quietly when the reader's signal fires. */
  async *read(): AsyncGenerator<Message, void> {
    try {
      yield* this.#pipe as AsyncIterable<Message>;
    } catch (thrown) {
      const end = await this.writer.closed;
      if (end.kind === 'failed') throw end.error;
      if (end.kind !== 'gone') throw thrown;
    } finally {
      this.#pipe.destroy();
    }
  }
}

class Pipe extends Readable {
  get cancelled(): boolean {
    return this.destroyed;
  }

  write(message: unknown): boolean {
    return this.push(message);
  }

  end(): void {
    this.push(null);
  }

  override _read(): void {
    this.emit('drain');
  }
}
