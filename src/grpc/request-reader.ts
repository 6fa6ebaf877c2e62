import type { ServerDuplexStream } from '@grpc/grpc-js';

/**
 * What a client sends on a bidirectional stream, one message at a time; ends when the client has ended or is gone, and
 * never throws. Nothing is read ahead of the caller beyond grpc-js's own 16 messages.
 *
 * Not the stream's own iterator: that one throws on a premature close and destroys the call on an error, which loses
 * the status.
 */
export async function* readRequests<Request>(
  call: ServerDuplexStream<Request, unknown>,
  signal: AbortSignal,
): AsyncGenerator<Request, void, undefined> {
  let ended = false;
  let wake = () => {};
  const end = () => {
    ended = true;
    wake();
  };
  const readable = () => wake();
  call.on('readable', readable);
  call.once('end', end);
  call.once('close', end);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) ended = true;
  try {
    for (;;) {
      const message: Request | null = call.read();
      if (message !== null) yield message;
      else if (ended) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    call.off('readable', readable);
    call.off('end', end);
    call.off('close', end);
    signal.removeEventListener('abort', end);
  }
}
