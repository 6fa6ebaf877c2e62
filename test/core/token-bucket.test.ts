import { expect, test } from 'vitest';
import { TokenBucket } from '../../src/core/token-bucket.js';

const rate = { burst: 3, perSecond: 10 };

test('so many pass at once, and then one whenever there is one again', () => {
  const bucket = new TokenBucket(rate, 1000);
  expect([1, 2, 3].map(() => bucket.take(1000))).toEqual([0, 0, 0]);
  expect(bucket.take(1000)).toBe(100);
  expect(bucket.take(1050)).toBeCloseTo(50);
  expect([bucket.take(1100), bucket.take(1100)]).toEqual([0, 100]);
});

test('whoever waits for long gets no more than so many at once, and a clock that goes back gives nothing', () => {
  const bucket = new TokenBucket(rate, 0);
  expect([1, 2, 3, 4].map(() => bucket.take(1_000_000) === 0)).toEqual([true, true, true, false]);
  expect(bucket.take(0)).toBe(100);
});
