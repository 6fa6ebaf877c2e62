import { expect, it } from 'vitest';
import { parseBytes } from '../../src/core/parse-bytes.js';

it.each([
  ['24GB', 24_000_000_000n],
  ['24 GiB', 25_769_803_776n],
  ['1.5gib', 1_610_612_736n],
  ['0.5 KiB', 512n],
  ['512 b', 512n],
  [' 2TB ', 2_000_000_000_000n],
])('%s', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});

it.each(['', '24', 'GB', '0GB', '-1GB', '1e3GB', '24 XB', '1.GB', '9999999GB', '1,5GB'])('%s is no size', (text) => {
  expect(parseBytes(text)).toBeUndefined();
});
