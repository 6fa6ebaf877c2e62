import { expect, test } from 'vitest';
import { promptObjects, tokenBytes } from '../../src/token-endpoint/token-objects.js';
import { TokenOutbox } from '../../src/token-endpoint/token-outbox.js';
import { objectFlags } from '../../src/worker/edge/object-record.js';

/** An outbox of an edge that has no room yet; `open` makes some and gives the sessions in the order of their objects. */
function closedOutbox() {
  let room = false;
  const sent: string[] = [];
  const outbox = new TokenOutbox({
    hasRoom: () => room,
    send: ({ session, flags }) => sent.push(`${session}:${flags}`),
  });
  const open = () => {
    room = true;
    outbox.flush();
    return sent;
  };
  return { outbox, open };
}

const prompt = [1, 2, 3, 4, 5, 6];

test('prompts take turns, and a row that decodes goes before their pieces', () => {
  const { outbox, open } = closedOutbox();
  for (const session of [1n, 2n]) for (const object of promptObjects(session, prompt, 2)) outbox.send(object);
  outbox.send({ session: 3n, flags: 0, payload: tokenBytes([7]) });
  const { MORE } = objectFlags;
  expect(open()).toEqual(['3:0', `1:${MORE}`, `2:${MORE}`, `1:${MORE}`, `2:${MORE}`, '1:0', '2:0']);
});

test('what a session has not sent can be dropped, and a cancel goes first', () => {
  const { outbox, open } = closedOutbox();
  for (const session of [1n, 2n]) for (const object of promptObjects(session, prompt, 6)) outbox.send(object);
  outbox.drop(2n);
  outbox.send({ session: 2n, flags: objectFlags.CANCEL, payload: new Uint8Array() });
  expect(open()).toEqual([`2:${objectFlags.CANCEL}`, '1:0']);
});

test('with room, an object leaves at once', () => {
  const { outbox, open } = closedOutbox();
  open();
  outbox.send({ session: 1n, flags: 0, payload: tokenBytes([7]) });
  expect(open()).toEqual(['1:0']);
});
