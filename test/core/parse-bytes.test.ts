import { expect, it } from 'vitest';
import { parseBytes } from '../../src/core/parse-bytes.js';

it.each([
  ['24GB', 24_000_000_000n],
  ['24GiB', 24n << 30n],
  ['24 gib', 24n << 30n],
  ['1.5TiB', 3n << 39n],
  ['512MiB', 512n << 20n],
  ['100kb', 100_000n],
  ['7B', 7n],
  ['0.1B', 0n],
])('reads %s', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});

it.each(['', '24', 'GB', '-1GB', '1e3GB', '24G', '24GBit', 'NaNGB', '24  GB', '1.2.3GB', '9999999999999TiB', 'ib'])(
  'takes "%s" for no size',
  (text) => {
    expect(parseBytes(text)).toBeUndefined();
  },
);
