import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeTinyModel } from '../../../../src/gguf/tiny-model.js';
import { BEGIN_TOKEN, END_TOKEN } from '../../../../src/gguf/tiny-vocabulary.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { openVocabulary, type Vocabulary } from '../../../../src/worker/engine/llama/vocabulary.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);

describe.skipIf(findLlamaPackage().kind === 'refused')('the vocabulary of a model', () => {
  let vocabulary: Vocabulary;
  beforeAll(async () => {
    const [path] = await writeTinyModel(join(folder, 'model.gguf'), { layers: 1, hidden: 32 });
    const opened = await openVocabulary(path);
    if (opened.kind === 'refused') throw new Error(opened.message);
    vocabulary = opened.vocabulary;
  });
  afterAll(() => vocabulary.close());

  test('makes tokens of any text and the same text of them', () => {
    for (const text of ['the tin lantern', '', ' two  spaces', 'naïve 日本 🦙', 'a\nb\t"c"']) {
      const ids = vocabulary.tokenize(text, { addSpecial: false });
      expect(ids.every((id) => id >= 0 && id < vocabulary.size)).toBe(true);
      // SentencePiece puts a space before the first word.
      expect(vocabulary.detokenize(ids)).toBe(text === '' ? '' : ` ${text}`);
    }
  });

  test('begins a prompt as the model wants it, unless told otherwise', () => {
    const bare = vocabulary.tokenize('tin', { addSpecial: false });
    expect(vocabulary.tokenize('tin')).toEqual([BEGIN_TOKEN, ...bare]);
  });

  test('reads the name of a special token as that token only when told to', () => {
    expect(vocabulary.tokenize('</s>', { addSpecial: false, parseSpecial: true })).toEqual([END_TOKEN]);
    expect(vocabulary.tokenize('</s>', { addSpecial: false })).not.toContain(END_TOKEN);
  });

  test('a piece may be part of a character', () => {
    const ids = vocabulary.tokenize('日', { addSpecial: false });
    const pieces = ids.map((id) => Buffer.from(vocabulary.piece(id)));
    expect(pieces.filter((piece) => piece.length === 1 && piece[0]! >= 0x80)).toHaveLength(3);
    expect(Buffer.concat(pieces).toString('utf8').trim()).toBe('日');
  });

  test('special tokens have no text unless asked for', () => {
    expect(vocabulary.piece(END_TOKEN)).toHaveLength(0);
    expect(Buffer.from(vocabulary.piece(END_TOKEN, { special: true })).toString()).toBe('</s>');
  });

  test('knows every token that ends a generation', () => {
    expect([...vocabulary.endTokens]).toEqual([END_TOKEN]);
    expect(vocabulary.chatTemplate).toBeUndefined();
  });

  test('knows how the tokens that begin and end a text are written', () => {
    expect([vocabulary.beginText, vocabulary.endText]).toEqual(['<s>', '</s>']);
  });

  test('an id outside of it is an error, not a read past the end', () => {
    for (const id of [-1, vocabulary.size, 1.5]) expect(() => vocabulary.piece(id)).toThrow(`token ${id}`);
  });

  test('a file that is no model is refused with its name', async () => {
    const opened = await openVocabulary(join(folder, 'missing.gguf'));
    expect(opened).toMatchObject({ kind: 'refused', message: expect.stringContaining('missing.gguf') });
  });
});
