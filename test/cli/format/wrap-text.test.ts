import { expect, it } from 'vitest';
import { wrapText } from '../../../src/cli/format/wrap-text.js';

it('breaks at blanks, and begins further lines below the first', () => {
  expect(wrapText('one two three four', 2, 10)).toBe('one two\n  three\n  four');
  expect(wrapText('one two', 2, 9)).toBe('one two');
  expect(wrapText('', 2, 9)).toBe('');
});

it('leaves a word whole that is too wide, such as a path', () => {
  expect(wrapText('see /a/very/long/path now', 0, 8)).toBe('see\n/a/very/long/path\nnow');
});
