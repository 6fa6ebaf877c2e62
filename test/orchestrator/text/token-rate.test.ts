import { expect, test } from 'vitest';
import { TokenRate } from '../../../src/orchestrator/text/token-rate.js';

test('counts tokens of the last five seconds, and of the time since they began to come when that is shorter', () => {
  const rate = new TokenRate();
  expect(rate.perSecond(1_000_000)).toBe(0);
  for (let at = 1_000_000; at < 1_002_000; at += 100) rate.count(2, at);
  expect(rate.perSecond(1_002_000)).toBeCloseTo(20);
  for (let at = 1_002_000; at < 1_020_000; at += 100) rate.count(2, at);
  expect(rate.perSecond(1_020_000)).toBeGreaterThan(17);
  expect(rate.perSecond(1_020_000)).toBeLessThanOrEqual(20);
  expect(rate.perSecond(1_030_000)).toBe(0);
  // After a pause the time before it does not count.
  rate.count(50, 1_030_000);
  expect(rate.perSecond(1_030_100)).toBe(50);
});
