/** A vocabulary as GGUF stores one: three arrays of equal length. */
export interface Vocabulary {
  readonly tokens: readonly string[];
  readonly scores: readonly number[];
  readonly types: readonly number[];
}

/** llama.cpp's token types. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;

export const UNKNOWN_TOKEN = 0;
export const BEGIN_TOKEN = 1;
export const END_TOKEN = 2;

/** Tokens that every vocabulary has: unknown, begin, end, all 256 bytes and the word separator. */
export const LEAST_VOCABULARY = 3 + 256 + 1;

const CONSONANTS = 'tnsrhldcmpfgbvkw';
const VOWELS = 'eaoiu';
const syllables = Array.from(CONSONANTS, (first) => Array.from(VOWELS, (second) => first + second)).flat();

/**
 * A SentencePiece-style vocabulary of exactly `size` tokens, at least LEAST_VOCABULARY. With its byte tokens it can
 * encode any text; letters and syllables, common ones first, fill the rest.
 */
export function tinyVocabulary(size: number): Vocabulary {
  const tokens = ['<unk>', '<s>', '</s>'];
  const types = [UNKNOWN, CONTROL, CONTROL];
  for (let byte = 0; byte < 256; byte++) {
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
    types.push(BYTE);
  }
  for (const piece of pieces()) {
    if (tokens.length === size) break;
    tokens.push(piece);
    types.push(NORMAL);
  }
  // SentencePiece merges the pair with the highest score first: earlier tokens are the more frequent ones.
  const scores = tokens.map((_, index) => (types[index] === NORMAL ? -index : 0));
  return { tokens, scores, types };
}

/** Never ends and never repeats: separator, printable characters, syllables, then made-up words. */
function* pieces(): Generator<string> {
  yield '▁';
  for (const letter of `${VOWELS}${CONSONANTS}jqxyz.,!?'"-:;()`) yield letter;
  for (let code = 0x30; code < 0x5b; code++) if (code < 0x3a || code > 0x40) yield String.fromCharCode(code);
  yield* syllables;
  for (let number = 1; ; number++) yield `▁${word(number)}`;
}

/** The word of a number from 1 on: its digits in the base of the syllables, of which none is zero. */
function word(number: number): string {
  let letters = '';
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / syllables.length)) {
    letters = syllables[(rest - 1) % syllables.length] + letters;
  }
  return letters;
}
