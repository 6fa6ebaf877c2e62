import { expect, it } from 'vitest';
import { formatBytes } from '../../src/core/format-bytes.js';

it.each([
  [0n, '0 B'],
  [1023n, '1023 B'],
  [1024n, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [100 * 1024, '100 KiB'],
  [1024 * 1024 - 1, '1.0 MiB'],
  [240n << 30n, '240 GiB'],
  [2n ** 64n - 1n, '16.0 EiB'],
])('%s bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
