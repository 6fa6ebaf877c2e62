import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextStream } from '../../src/token-endpoint/text-stream.js';

function streamed(pieces: readonly Uint8Array[]): string[] {
  const stream = new TextStream();
  return [...pieces.map((piece) => stream.push(piece)), stream.end()];
}

test('a character that comes byte by byte comes out whole', () => {
  const bytes = [...Buffer.from('a日🦙')].map((byte) => Uint8Array.of(byte));
  expect(streamed(bytes)).toEqual(['a', '', '', '日', '', '', '', '🦙', '']);
});

test('an unfinished character is replaced at the end, not before', () => {
  expect(streamed([Buffer.from('日').subarray(0, 2)])).toEqual(['', '\uFFFD']);
});

test('however bytes are cut, the text is the one of all bytes', () => {
  const character = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => Buffer.from(text));
  const bytes = fc.oneof(
    character,
    fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
  );
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(40), { maxLength: 8 }), (all, cuts) => {
      const bounds = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
      const pieces = bounds.slice(1).map((end, index) => all.subarray(bounds[index], end));
      expect(streamed(pieces).join('')).toBe(all.toString('utf8'));
    }),
  );
});

test('a byte order mark is text', () => {
  expect(streamed([Buffer.from('\uFEFFa')]).join('')).toBe('\uFEFFa');
});
