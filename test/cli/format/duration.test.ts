import { describe, expect, it } from 'vitest';
import { formatAge, formatDuration, parseDuration } from '../../../src/cli/format/duration.js';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['300ms', 300],
    ['5s', 5000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['30d', 2_592_000_000],
  ])('reads %s as %s ms', (text, millis) => {
    expect(parseDuration(text)).toBe(millis);
    expect(formatDuration(millis)).toBe(text);
  });

  it.each(['', '5', '-5s', '5 s', '1.5s', '5S', 's', '1e3s', '5sec'])('refuses "%s"', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('formatAge', () => {
  const now = new Date('2026-01-02T00:00:00Z');

  it.each([
    [-5, '0s'],
    [59, '59s'],
    [60, '1m'],
    [3600 * 5, '5h'],
    [86_400 * 3, '3d'],
  ])('of %s seconds is %s', (seconds, text) => {
    expect(formatAge(new Date(now.getTime() - seconds * 1000), now)).toBe(text);
  });
});
