import { expect, test } from 'vitest';
import { firstEvent } from '../../src/dashboard/api/first-event.js';

/** A body that arrives a byte at a time. */
function bodyOf(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const byte of new TextEncoder().encode(text)) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
}

test('the first event is the first with data, whole, whatever its pieces', async () => {
  const body = bodyOf('retry: 500\n\n: still here\n\nid: 7\ndata: {"name":"ä"}\n\ndata: {"name":"b"}\n\n');
  expect(await firstEvent(body)).toEqual({ kind: 'message', json: { name: 'ä' } });
  const refused = bodyOf('event: refused\ndata: {"error":{}}\n\n');
  expect(await firstEvent(refused)).toEqual({ kind: 'refused', json: { error: {} } });
});

test('a stream that ends, or breaks off in an event, has had none', async () => {
  expect(await firstEvent(bodyOf('retry: 500\n\n'))).toBeUndefined();
  expect(await firstEvent(bodyOf('data: {"name":"a"}\n'))).toBeUndefined();
});
