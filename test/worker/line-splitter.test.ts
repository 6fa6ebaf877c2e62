import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { type Line, LineSplitter } from '../../src/worker/line-splitter.js';

function split(...chunks: string[]): Line[] {
  const splitter = new LineSplitter();
  return chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)));
}

const line = (text: string): Line => ({ kind: 'line', text });
const longest = 'x'.repeat(limits.workerLineBytes);

test('lines are whole however their bytes arrive', () => {
  expect(split('{"a"', ':1}\n{"b":2}\n{"c"', ':3}', '\n')).toEqual([line('{"a":1}'), line('{"b":2}'), line('{"c":3}')]);
});

test('a character that is cut in two is whole again', () => {
  const splitter = new LineSplitter();
  const bytes = Buffer.from('ü\n');
  expect([...splitter.push(bytes.subarray(0, 1)), ...splitter.push(bytes.subarray(1))]).toEqual([line('ü')]);
});

test('blank lines and carriage returns are nothing', () => {
  expect(split('\r\n\na\r\n')).toEqual([line('a')]);
});

test('a line without an end is no line', () => {
  expect(split('a\nb')).toEqual([line('a')]);
});

test('a line of the longest length passes; one byte more is told of once, and the next line is fine', () => {
  expect(split(`${longest}\n`)).toEqual([line(longest)]);
  expect(split(longest, 'x', longest, '\nnext\n')).toEqual([{ kind: 'too-long' }, line('next')]);
});
