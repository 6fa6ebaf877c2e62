import { expect, test } from 'vitest';
import { quoted } from '../../src/core/quoted.js';

test.each([
  ['a "b"\nc', '"a \\"b\\"\\nc"'],
  ['x'.repeat(81), `"${'x'.repeat(80)}..."`],
  [{ a: [1, null] }, '{"a":[1,null]}'],
  [['x'.repeat(100)], `["${'x'.repeat(78)}...`],
  [undefined, 'nothing'],
])('%j in a sentence is %s', (value, text) => {
  expect(quoted(value)).toBe(text);
});
