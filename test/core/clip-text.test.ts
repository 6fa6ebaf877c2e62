import { expect, test } from 'vitest';
import { clipText } from '../../src/core/clip-text.js';

test.each([
  ['', 4, ''],
  ['abcdef', 4, 'abcd'],
  ['aäöü', 4, 'aä'],
  ['aäöü', 5, 'aäö'],
  ['a\u{1f600}b', 4, 'a'],
  ['a\u{1f600}b', 5, 'a\u{1f600}'],
  ['\ud83d', 8, '\ufffd'],
  ['x\ude00y', 8, 'x\ufffdy'],
  ['\ufeffab', 4, '\ufeffa'],
])('%j clipped to %d bytes is %j', (text, maxBytes, clipped) => {
  expect(clipText(text, maxBytes)).toBe(clipped);
});
