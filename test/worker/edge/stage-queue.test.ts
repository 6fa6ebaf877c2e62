import { expect, test } from 'vitest';
import { limits } from '../../../src/core/limits.js';
import type { ObjectRecord } from '../../../src/worker/edge/object-record.js';
import { type Lane, StageQueue } from '../../../src/worker/stage-queue.js';

const lanes: readonly Lane[] = ['control', 'decode', 'prefill'];

/** Objects of a session are told by their sequence; the flags say the lane here. */
const waiting = (session: number, sequence: number, lane: Lane): ObjectRecord => ({
  session: BigInt(session),
  sequence,
  flags: lanes.indexOf(lane),
  payload: Buffer.alloc(0),
});

function queueOf(...objects: ObjectRecord[]): StageQueue {
  const queue = new StageQueue(({ flags }) => lanes[flags]!);
  for (const object of objects) queue.add(object);
  return queue;
}

function drain(queue: StageQueue, most = Number.POSITIVE_INFINITY): string[] {
  const taken: string[] = [];
  while (taken.length < most && queue.peek() !== undefined) {
    const next = queue.peek();
    const object = queue.take();
    expect(object).toBe(next);
    taken.push(`${object.session}/${object.sequence}`);
  }
  return taken;
}

test('what decodes goes before what prefills, and control before both', () => {
  const queue = queueOf(waiting(1, 0, 'prefill'), waiting(2, 5, 'decode'), waiting(3, 9, 'control'));
  expect(drain(queue)).toEqual(['3/9', '2/5', '1/0']);
});

test('sessions that prefill take turns, and each keeps its order', () => {
  const queue = queueOf(
    ...[0, 1, 2].map((sequence) => waiting(1, sequence, 'prefill')),
    ...[0, 1].map((sequence) => waiting(2, sequence, 'prefill')),
  );
  expect(drain(queue)).toEqual(['1/0', '2/0', '1/1', '2/1', '1/2']);
});

test('nothing of a session goes before what came first of it', () => {
  const queue = queueOf(waiting(1, 0, 'prefill'), waiting(1, 1, 'control'), waiting(2, 0, 'decode'));
  expect(drain(queue)).toEqual(['2/0', '1/0', '1/1']);
});

test('a prompt does not starve, however many decode', () => {
  const queue = queueOf(waiting(1, 0, 'prefill'));
  for (let session = 2; session < 100; session++) queue.add(waiting(session, 0, 'decode'));
  expect(drain(queue).indexOf('1/0')).toBe(limits.decodesBeforePrefill);
});

test('what is dropped of a session is gone, and the others keep their turn', () => {
  const queue = queueOf(waiting(1, 0, 'decode'), waiting(2, 0, 'decode'), waiting(1, 1, 'control'));
  expect(queue.drop(1n).map(({ sequence }) => sequence)).toEqual([0, 1]);
  expect(queue.drop(1n)).toEqual([]);
  queue.add(waiting(1, 2, 'control'));
  expect(drain(queue)).toEqual(['1/2', '2/0']);
});
