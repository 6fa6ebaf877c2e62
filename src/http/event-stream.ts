import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { limits } from '../core/limits.js';
import { unreadMillis } from '../grpc/patience.js';
import { settlesWithin } from './settles-within.js';

/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** What a browser sends back as Last-Event-ID when it comes again. */
  readonly id?: string;
  /** Absent for what `onmessage` hears. */
  readonly event?: string;
  /** One line, such as JSON. */
  readonly data: string;
}

/**
 * Answers with server-sent events (HTML standard, section 9.2), as fast as the client reads. While there is nothing to say a
 * comment goes out now and then, for proxies and for noticing that the client is gone; the iteration is left then. A client
 * that reads nothing for a while is gone too. The hello tells a browser at once that it is connected.
 */
export function sendEvents(
  reply: FastifyReply,
  events: AsyncIterable<ServerSentEvent>,
  first: 'hello' | 'event' = 'hello',
): FastifyReply {
  // Its buffers are full by then, and somebody else may want the connection.
  reply.raw.socket?.setTimeout(unreadMillis);
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(withPulse(events, first), { objectMode: true, highWaterMark: 16 }));
}

async function* withPulse(
  events: AsyncIterable<ServerSentEvent>,
  first: 'hello' | 'event',
): AsyncGenerator<string, void> {
  const reader = events[Symbol.asyncIterator]();
  try {
    // A browser would wait three seconds before it comes again.
    if (first === 'hello') yield `retry: ${limits.eventStreamRetryMillis}\n\n`;
    let next = reader.next();
    for (;;) {
      while (!(await settlesWithin(next, limits.eventStreamPulseMillis))) yield ': still here\n\n';
      const result = await next;
      if (result.done) return;
      yield format(result.value);
      next = reader.next();
    }
  } finally {
    // What waits for its next event is told by its signal; this is for what does not.
    void reader.return?.();
  }
}

function format({ id, event, data }: ServerSentEvent): string {
  const lines = [id === undefined ? '' : `id: ${id}\n`, event === undefined ? '' : `event: ${event}\n`];
  return `${lines.join('')}data: ${data}\n\n`;
}
