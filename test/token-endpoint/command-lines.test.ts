import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { LineSplitter } from '../../src/worker/line-splitter.js';

test('lines are whole however they arrive, and blank ones are none', () => {
  const reader = new LineSplitter(limits.tokenEndpointLineBytes);
  const bytes = Buffer.from('one\n\n zwölf \nthree');
  const lines = [...bytes].flatMap((byte) => reader.push(Uint8Array.of(byte)));
  lines.push(...reader.push(Buffer.from('\nfour\nfive\n')));
  const texts = lines.map((line) => line.kind === 'line' && line.text);
  expect(texts).toEqual(['one', 'zwölf', 'three', 'four', 'five']);
});

test('a line may be as long as the limit, and the one after a longer line is read', () => {
  const reader = new LineSplitter(limits.tokenEndpointLineBytes);
  const longest = 'x'.repeat(limits.tokenEndpointLineBytes);
  expect(reader.push(Buffer.from(`${longest}\n`))).toEqual([{ kind: 'line', text: longest }]);
  expect(reader.push(Buffer.from(`${longest}y\nz\n`))).toEqual([{ kind: 'too-long' }, { kind: 'line', text: 'z' }]);
});
