import { describe, expect, it } from 'vitest';
import { compareAnswers, type SaidAnswer, tokensToReplay, type WholeAnswer } from '../../src/replay/compare-answers.js';

const said = (text: string, tokenIds: readonly number[], end: SaidAnswer['end'] = 'limit') => ({ text, tokenIds, end });

/** Each word is a token; its id is the number given. */
function whole(...words: readonly (readonly [text: string, id: number])[]): WholeAnswer {
  const textEnds = words.map((_, index) => words.slice(0, index + 1).reduce((sum, [text]) => sum + text.length, 0));
  return { text: words.map(([text]) => text).join(''), tokenIds: words.map(([, id]) => id), textEnds };
}

const blue = whole([' the', 5], [' sky', 6], [' is', 7], [' blue', 8]);

describe('two answers', () => {
  it('are identical when tokens and text are', () => {
    expect(compareAnswers(said(' the sky is blue', [5, 6, 7, 8]), blue)).toEqual({ kind: 'identical', tokens: 4 });
  });

  it('part at the first token that differs, with what is common before it', () => {
    expect(compareAnswers(said(' the sky was red', [5, 6, 9, 1]), blue)).toEqual({
      kind: 'different',
      agreeing: 2,
      runToken: 9,
      wholeToken: 7,
      common: ' the sky',
      runText: ' was red',
      wholeText: ' is blue',
    });
  });

  it('part where one of them ends', () => {
    const ended = { agreeing: 3, runToken: undefined, wholeToken: 8, runText: '', wholeText: ' blue' };
    expect(compareAnswers(said(' the sky is', [5, 6, 7], 'model'), blue)).toMatchObject(ended);
    const longer = compareAnswers(said(' the sky is blue!', [5, 6, 7, 8, 3]), blue);
    expect(longer).toMatchObject({ agreeing: 4, runToken: 3, wholeToken: undefined, runText: '!' });
  });

  it('part at a text that its tokens do not say', () => {
    const forged = compareAnswers(said(' the sky is grey', [5, 6, 7, 8]), blue);
    expect(forged).toMatchObject({ kind: 'different', agreeing: 4, common: ' the sky is ', runText: 'grey' });
    expect(forged).toMatchObject({ runToken: undefined, wholeToken: undefined });
  });

  it('are as good as identical when one was broken off inside a character', () => {
    const llama = whole([' a', 1], ['\u{1f999}', 2]);
    expect(compareAnswers(said(' a', [1, 2], 'broken-off'), llama).kind).toBe('identical');
    expect(compareAnswers(said(' a', [1, 2]), llama).kind).toBe('different');
  });

  it('are never cut inside a character', () => {
    const llama = whole([' a', 1], ['\u{1f999}', 2]);
    expect(compareAnswers(said(' a\u{1f998}', [1, 2]), llama)).toMatchObject({ common: ' a', wholeText: '\u{1f999}' });
  });
});

it('the whole model is asked for one token more when the run ended by itself', () => {
  expect(tokensToReplay(said('', [], 'model'))).toBe(1);
  expect(tokensToReplay(said(' the', [5], 'limit'))).toBe(1);
  expect(tokensToReplay(said(' the', [5], 'model'))).toBe(2);
  expect(tokensToReplay(said('', [], 'broken-off'))).toBe(0);
});
