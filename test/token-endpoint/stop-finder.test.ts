import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopFinder } from '../../src/token-endpoint/stop-finder.js';

/** What comes out of each piece, and of the end. */
function found(pieces: readonly string[], stops: readonly string[]) {
  const finder = new StopFinder(stops);
  const out = pieces.map((piece) => finder.push(piece));
  return { out, rest: finder.end(), isFound: finder.isFound };
}

/** The text up to the stop text that is complete first, by looking at every beginning of the whole text. */
function naive(text: string, stops: readonly string[]): { said: string; isFound: boolean } {
  for (let end = 1; end <= text.length; end++) {
    const begins = stops.filter((stop) => text.slice(0, end).endsWith(stop)).map(({ length }) => end - length);
    if (begins.length > 0) return { said: text.slice(0, Math.min(...begins)), isFound: true };
  }
  return { said: text, isFound: false };
}

/** The longest end of a text with which a stop text may begin. */
function mayBegin(text: string, stops: readonly string[]): string {
  for (let from = 0; from < text.length; from++) {
    if (stops.some((stop) => stop !== text.slice(from) && stop.startsWith(text.slice(from)))) return text.slice(from);
  }
  return '';
}

// So few characters that stop texts are often met, and often nearly; two of them share half of a surrogate pair.
const character = fc.constantFrom('a', 'b', 'é', '🦙', '🦘');
const text = fc.array(character, { maxLength: 40 }).map((characters) => characters.join(''));
const stop = fc.array(character, { minLength: 1, maxLength: 5 }).map((characters) => characters.join(''));
const pieces = fc.array(
  fc.array(character, { maxLength: 6 }).map((characters) => characters.join('')),
  { maxLength: 12 },
);

describe('a text with stop texts', () => {
  it('is cut as the whole text is, however it comes, and nothing waits longer than it must', () => {
    fc.assert(
      fc.property(pieces, fc.array(stop, { minLength: 1, maxLength: 4 }), (parts, stops) => {
        const whole = naive(parts.join(''), stops);
        const finder = new StopFinder(stops);
        let said = '';
        let seen = '';
        for (const part of parts) {
          said += finder.push(part);
          seen += part;
          const now = naive(seen, stops);
          const waits = now.isFound ? '' : mayBegin(seen, stops);
          expect(said + waits).toBe(now.said);
          expect(finder.isFound).toBe(now.isFound);
        }
        expect(said + finder.end()).toBe(whole.said);
        expect(Buffer.from(said).toString()).toBe(said);
      }),
    );
  });

  it('comes through at once when there are none', () => {
    fc.assert(
      fc.property(text, (all) => {
        expect(found([all], [])).toEqual({ out: [all], rest: '', isFound: false });
      }),
    );
  });

  it('holds back what may become one, across pieces, and lets go of it when it does not', () => {
    expect(found(['one E', 'N', 'D two'], ['END'])).toEqual({ out: ['one ', '', ''], rest: '', isFound: true });
    expect(found(['one E', 'N', 'X two'], ['END'])).toEqual({ out: ['one ', '', 'ENX two'], rest: '', isFound: false });
    expect(found(['one E'], ['END'])).toEqual({ out: ['one '], rest: 'E', isFound: false });
    expect(found(['aaa', 'ab'], ['aab'])).toEqual({ out: ['a', 'a'], rest: '', isFound: true });
  });

  it('ends before the one that is complete first, and of two that end together before the longer', () => {
    expect(found(['xabcd'], ['abcd', 'bc']).out).toEqual(['xa']);
    expect(found(['xabc'], ['bc', 'abc']).out).toEqual(['x']);
  });
});
