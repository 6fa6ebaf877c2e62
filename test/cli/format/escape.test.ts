import { expect, it } from 'vitest';
import { escapeControls } from '../../../src/cli/format/escape.js';
import { safeJson } from '../../../src/cli/format/safe-json.js';

it('leaves ordinary text of any script alone', () => {
  expect(escapeControls('alpha β 节点 🙂 "x" \\')).toBe('alpha β 节点 🙂 "x" \\');
});

it.each([
  ['\u001b[2J', '\\x1b[2J'],
  ['a\r\nb\tc', 'a\\x0d\\x0ab\\x09c'],
  ['\u009b31m\u007f', '\\x9b31m\\x7f'],
  ['user\u202etxt', 'user\\u{202e}txt'],
  ['\ud800', '\\u{d800}'],
])('escapes what could steer a terminal: %j', (text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
});

it('makes JSON that is safe on a terminal and means the same', () => {
  const value = { name: 'a\u009b31m\u202e\u007f\n' };
  const json = safeJson(value, 2);
  expect(json).toBe('{\n  "name": "a\\u009b31m\\u202e\\u007f\\n"\n}');
  expect(JSON.parse(json)).toEqual(value);
});
