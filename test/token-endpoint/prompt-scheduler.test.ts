import { describe, expect, test } from 'vitest';
import {
  type ChatMessage,
  type GenerateText,
  TextDoneReason,
  TextRefusalReason,
} from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../../src/core/limits.js';
import { byteTokenizer } from '../../src/token-endpoint/byte-tokenizer.js';
import { ChatTemplate } from '../../src/token-endpoint/chat-template.js';
import { objectFlags } from '../../src/worker/edge/object-record.js';
import { EchoStages } from './echo-stages.js';

const { MORE, RELEASE, CANCEL, TRUNCATE } = objectFlags;

/** Flags and rows of everything that was sent. */
const shapes = ({ sent }: EchoStages) => sent.map(({ flags, payload }) => [flags, payload.byteLength / 4]);

test('a prompt is cut into pieces of exactly one micro-batch, and its answer ends with a release', () => {
  const stages = new EchoStages();
  stages.generate('r', 'abcdefghi', { maxTokens: 3 });
  stages.settle();
  expect(shapes(stages)).toEqual([
    [MORE, 4],
    [MORE, 4],
    [0, 1],
    [0, 1],
    [0, 1],
    [RELEASE, 0],
  ]);
  expect(stages.text('r')).toBe('jkl');
  expect(stages.done('r')).toMatchObject({
    reason: TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS,
    promptTokens: 9,
    reusedTokens: 0,
    generatedTokens: 3,
  });
  expect(stages.held.size).toBe(0);
});

test('a prompt that fills its last piece has no empty one after it', () => {
  const stages = new EchoStages();
  stages.generate('r', 'abcdefgh', { maxTokens: 1 });
  stages.settle();
  expect(shapes(stages)).toEqual([
    [MORE, 4],
    [0, 4],
    [RELEASE, 0],
  ]);
});

/** How many objects had been sent each time that somebody asked what a token says. */
function sentBeforeText(more: Partial<GenerateText>): number[] {
  const sent: number[] = [];
  const piece = (token: number) => {
    sent.push(stages.sent.length);
    return byteTokenizer.piece(token);
  };
  const stages = new EchoStages({}, undefined, { piece });
  stages.generate('r', 'ab', { maxTokens: 3, ...more });
  stages.settle();
  return sent;
}

test('a token is on its way back to the stages before anyone looks at what it says', () => {
  expect(sentBeforeText({})).toEqual([2, 3, 3]);
});

test('a token waits for its text where that may end the answer', () => {
  expect(sentBeforeText({ stop: ['xyz'] })).toEqual([1, 2, 3]);
});

test('a token that ends a generation is neither text nor counted', () => {
  const stages = new EchoStages({}, (held) => (held.length < 4 ? 120 : 0));
  stages.generate('r', 'ab');
  stages.settle();
  expect(stages.text('r')).toBe('xx');
  expect(stages.done('r')).toMatchObject({
    reason: TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION,
    generatedTokens: 2,
  });
});

test('an answer may fill the context and no more', () => {
  const stages = new EchoStages({ contextLength: 6 });
  stages.generate('r', 'abcd');
  stages.generate('full', 'abcdef');
  stages.settle();
  // The last token needs no row of its own.
  expect(stages.text('r')).toBe('efg');
  expect(stages.text('full')).toBe('g');
  expect(stages.done('full')!.reason).toBe(TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL);
});

test('says what is wrong with a prompt, with both numbers', () => {
  const stages = new EchoStages({ contextLength: 6, maxTokens: 5 });
  stages.generate('empty', '');
  stages.generate('long', 'abcdefg');
  stages.generate('half', 'a\ud800');
  stages.generate('huge', 'a'.repeat(limits.promptBytes + 1));
  stages.generate('more', 'a', { maxTokens: 6 });
  stages.generate('', 'a');
  expect(stages.refused('empty')!.reason).toBe(TextRefusalReason.TEXT_REFUSAL_REASON_EMPTY_PROMPT);
  expect(stages.refused('long')).toMatchObject({
    reason: TextRefusalReason.TEXT_REFUSAL_REASON_PROMPT_TOO_LONG,
    message: expect.stringMatching(/7 tokens.*context 6/),
    actual: 7,
    allowed: 6,
  });
  expect(stages.refused('half')!.reason).toBe(TextRefusalReason.TEXT_REFUSAL_REASON_INVALID_PROMPT);
  expect(stages.refused('huge')!.reason).toBe(TextRefusalReason.TEXT_REFUSAL_REASON_INVALID_PROMPT);
  expect(stages.refused('more')).toMatchObject({ actual: 6, allowed: 5 });
  expect(stages.refused('')!.reason).toBe(TextRefusalReason.TEXT_REFUSAL_REASON_INVALID_REQUEST);
  expect(stages.sent).toEqual([]);
});

describe('messages', () => {
  const { TEXT_REFUSAL_REASON_CHAT_TEMPLATE, TEXT_REFUSAL_REASON_INVALID_PROMPT } = TextRefusalReason;
  const hello = { role: 'user', content: 'hello' };

  test.each<[string, Partial<GenerateText>, TextRefusalReason, string]>([
    ['without a template', { messages: [hello] }, TEXT_REFUSAL_REASON_CHAT_TEMPLATE, 'no chat template'],
    ['beside a prompt', { prompt: 'a', messages: [hello] }, TEXT_REFUSAL_REASON_INVALID_PROMPT, 'and a prompt'],
  ])('%s are refused', (_, request, reason, words) => {
    const stages = new EchoStages();
    stages.generate('r', '', request);
    expect(stages.refused('r')).toMatchObject({ reason, message: expect.stringContaining(words) });
  });

  const chat = (template: string) => ({ chat: new ChatTemplate({ template, beginText: '', endText: '' }) });
  const echo = chat('{% for message in messages %}{{ message.role + message.content }}{% endfor %}');

  test.each<[string, ChatMessage[], TextRefusalReason, string]>([
    ['one of nobody', [hello, { ...hello, role: '' }], TEXT_REFUSAL_REASON_CHAT_TEMPLATE, 'message 1 has no role'],
    ['too many', Array(limits.chatMessages + 1).fill(hello), TEXT_REFUSAL_REASON_CHAT_TEMPLATE, '1025 messages'],
    [
      'too long ones',
      [hello, { ...hello, content: 'x'.repeat(limits.promptBytes) }],
      TEXT_REFUSAL_REASON_CHAT_TEMPLATE,
      'the messages have',
    ],
    ['half a character', [{ ...hello, content: '\ud800' }], TEXT_REFUSAL_REASON_INVALID_PROMPT, 'surrogate'],
  ])('of which there are %s are refused', (_, messages, reason, words) => {
    const stages = new EchoStages({}, undefined, echo);
    stages.generate('r', '', { messages });
    expect(stages.refused('r')).toMatchObject({ reason, message: expect.stringContaining(words) });
    expect(stages.sent).toEqual([]);
  });

  test('that the template does not take are refused with what it says', () => {
    const stages = new EchoStages({}, undefined, chat("{{ raise_exception('only users') }}"));
    stages.generate('r', '', { messages: [hello] });
    expect(stages.refused('r')).toMatchObject({
      reason: TEXT_REFUSAL_REASON_CHAT_TEMPLATE,
      message: expect.stringContaining('(only users)'),
    });
  });

  test('are answered as the text that the template makes of them', () => {
    const stages = new EchoStages({}, undefined, echo);
    stages.generate('r', '', { messages: [hello], maxTokens: 2 });
    stages.settle();
    expect(stages.done('r')!.promptTokens).toBe('userhello'.length);
    expect(stages.text('r')).toBe('pq');
  });
});

test('the plan bounds an answer that asks for nothing', () => {
  const stages = new EchoStages({ maxTokens: 5 });
  stages.generate('r', 'a');
  stages.settle();
  expect(stages.text('r')).toBe('bcdef');
});

test('as many prompts run as stages have sessions, and the next waits for a release', () => {
  const stages = new EchoStages();
  for (const id of ['1', '2', '3', '4']) stages.generate(id, 'a', { maxTokens: 3 });
  expect(stages.sent.map(({ session }) => session)).toEqual([1n, 2n]);
  let most = 0;
  do most = Math.max(most, stages.held.size);
  while (stages.step());
  expect(most).toBe(2);
  for (const id of ['1', '2', '3', '4']) expect(stages.text(id)).toBe('bcd');
});

test('a bounded number of prompts waits', () => {
  const stages = new EchoStages({ sessions: 1 });
  for (let index = 0; index <= limits.waitingPrompts; index++) stages.generate(`r${index}`, 'a', { maxTokens: 1 });
  expect(stages.refused('r1')).toBeUndefined();
  stages.generate('late', 'a');
  expect(stages.refused('late')!.reason).toBe(TextRefusalReason.TEXT_REFUSAL_REASON_TOO_MANY_REQUESTS);
});

test('an id that is open is refused, and may come again afterwards', () => {
  const stages = new EchoStages();
  stages.generate('r', 'a', { maxTokens: 1 });
  stages.generate('r', 'b', { maxTokens: 1 });
  expect(stages.refused('r')!.reason).toBe(TextRefusalReason.TEXT_REFUSAL_REASON_INVALID_REQUEST);
  stages.settle();
  stages.generate('r', 'x', { maxTokens: 1 });
  stages.settle();
  expect(stages.text('r')).toBe('by');
});

test('a cancelled answer ends at once, and its session is released once that is confirmed', () => {
  const stages = new EchoStages({ sessions: 1 });
  stages.generate('r', 'abcdef');
  stages.generate('next', 'a', { maxTokens: 1 });
  stages.generate('gone', 'a');
  for (let steps = 0; steps < 4; steps++) stages.step();
  stages.scheduler.cancel({ requestId: 'gone', reason: 'never mind' });
  stages.scheduler.cancel({ requestId: 'r', reason: 'enough' });
  stages.scheduler.cancel({ requestId: 'r', reason: 'enough' });
  expect(stages.done('r')).toMatchObject({ reason: TextDoneReason.TEXT_DONE_REASON_CANCELLED, message: 'enough' });
  expect(stages.done('gone')).toMatchObject({ message: 'never mind' });
  const text = stages.text('r');
  stages.settle();
  expect(stages.text('r')).toBe(text);
  expect(
    stages.sent
      .filter(({ session }) => session === 1n)
      .slice(-2)
      .map(({ flags }) => flags),
  ).toEqual([CANCEL, RELEASE]);
  expect(stages.text('next')).toBe('b');
  expect(stages.held.size).toBe(0);
});

test('a second turn sends only what is new', () => {
  const stages = new EchoStages();
  stages.generate('1', 'abcd', { maxTokens: 3, conversation: 'c' });
  stages.settle();
  const before = stages.sent.length;
  // The stages hold "abcdef": the last token of an answer never came back to them.
  stages.generate('2', 'abcdefgh', { maxTokens: 1, conversation: 'c' });
  stages.settle();
  expect(shapes(stages).slice(before)).toEqual([[0, 2]]);
  expect(stages.done('2')).toMatchObject({ promptTokens: 8, reusedTokens: 6 });
  expect(stages.text('2')).toBe('i');
  stages.scheduler.endConversation('c');
  stages.settle();
  expect(stages.held.size).toBe(0);
});

test('a turn that says something else goes back to what both share', () => {
  const stages = new EchoStages();
  stages.generate('1', 'abcd', { maxTokens: 3, conversation: 'c' });
  stages.settle();
  const before = stages.sent.length;
  stages.generate('2', 'abcx', { maxTokens: 1, conversation: 'c' });
  stages.settle();
  expect(shapes(stages).slice(before)).toEqual([
    [TRUNCATE, 1],
    [0, 1],
  ]);
  expect(stages.text('2')).toBe('y');
  // The very same prompt again: one row has to be there for a token to follow.
  stages.generate('3', 'abcx', { maxTokens: 1, conversation: 'c' });
  stages.settle();
  expect(stages.done('3')!.reusedTokens).toBe(3);
  expect(stages.text('3')).toBe('y');
});

test('stages that kept less are told again, and get the rest', () => {
  const stages = new EchoStages();
  stages.generate('1', 'abcd', { maxTokens: 3, conversation: 'c' });
  stages.settle();
  const before = stages.sent.length;
  stages.keepAtMost = 1;
  stages.generate('2', 'abcx', { maxTokens: 1, conversation: 'c' });
  stages.settle();
  expect(shapes(stages).slice(before)).toEqual([
    [TRUNCATE, 1],
    [TRUNCATE, 1],
    [0, 3],
  ]);
  expect(stages.done('2')!.reusedTokens).toBe(1);
  expect(stages.text('2')).toBe('y');
});

test('a conversation goes on after its answer was cancelled', () => {
  const stages = new EchoStages();
  stages.generate('1', 'abcdefgh', { conversation: 'c' });
  stages.step();
  stages.scheduler.cancel({ requestId: '1', reason: '' });
  stages.generate('2', 'abcdefghi', { maxTokens: 1, conversation: 'c' });
  stages.settle();
  // One piece of four had arrived, and the second was dropped on its way.
  expect(stages.done('2')!.reusedTokens).toBe(4);
  expect(stages.text('2')).toBe('j');
});

test('an answer that is cancelled while stages go back leaves a session that can be used', () => {
  const stages = new EchoStages();
  stages.generate('1', 'abcd', { maxTokens: 3, conversation: 'c' });
  stages.settle();
  stages.generate('2', 'abxy', { conversation: 'c' });
  stages.scheduler.cancel({ requestId: '2', reason: '' });
  stages.settle();
  stages.generate('3', 'abxy', { maxTokens: 1, conversation: 'c' });
  stages.settle();
  expect(stages.done('3')!.reusedTokens).toBe(2);
  expect(stages.text('3')).toBe('z');
});

test('the conversation that rested longest makes room for a prompt', () => {
  const stages = new EchoStages();
  for (const id of ['1', '2', '1b']) {
    stages.generate(id, 'abcd', { maxTokens: 1, conversation: id[0]! });
    stages.settle();
  }
  stages.generate('3', 'xy', { maxTokens: 1 });
  stages.settle();
  expect(stages.text('3')).toBe('z');
  expect([...stages.held.keys()]).toEqual([1n]);
  stages.generate('2b', 'abcd', { maxTokens: 1, conversation: '2' });
  stages.settle();
  expect(stages.done('2b')).toMatchObject({ reusedTokens: 0, generatedTokens: 1 });
});

test('an answer waits for its reader, and goes on when that has caught up', () => {
  const stages = new EchoStages({ contextLength: 4096 }, () => 97);
  stages.generate('r', 'a', { maxTokens: 300 });
  stages.settle();
  expect(stages.text('r')).toHaveLength(limits.unreadTokens);
  stages.scheduler.acknowledge({ requestId: 'r', tokens: 100 });
  expect(stages.alarm).toBeUndefined();
  stages.settle();
  expect(stages.text('r')).toHaveLength(300);
});

test('an answer whose reader takes nothing ends with that reason, and frees its session', () => {
  const stages = new EchoStages({ contextLength: 4096, sessions: 1 }, () => 97);
  stages.generate('r', 'a', { maxTokens: 300 });
  stages.generate('next', 'a', { maxTokens: 1 });
  stages.settle();
  stages.scheduler.acknowledge({ requestId: 'r', tokens: 0 });
  stages.alarm!();
  expect(stages.done('r')).toMatchObject({
    reason: TextDoneReason.TEXT_DONE_REASON_SLOW_READER,
    message: expect.stringContaining('256 tokens behind'),
  });
  stages.settle();
  expect(stages.done('next')!.generatedTokens).toBe(1);
  expect(stages.held.size).toBe(0);
});

test('a reader that has gone is waited for no more', () => {
  const stages = new EchoStages({ contextLength: 4096 }, () => 97);
  stages.generate('r', 'a');
  stages.settle();
  expect(stages.alarm).toBeDefined();
  stages.scheduler.cancel({ requestId: 'r', reason: '' });
  expect(stages.alarm).toBeUndefined();
});

test('a character that tokens split comes whole', () => {
  const bytes = Buffer.from('日!');
  const stages = new EchoStages({}, (held) => bytes[held.length - 1] ?? 0);
  stages.generate('r', 'a');
  stages.settle();
  const deltas = stages.events.flatMap((event) => (event.$case === 'delta' ? [event.value.text] : []));
  expect(deltas).toEqual(['', '', '日', '!']);
});

test('an object that could not come is one sentence', () => {
  const stages = new EchoStages();
  expect(stages.scheduler.receive({ session: 9n, flags: 0, payload: Buffer.alloc(4) })).toMatchObject({
    problem: expect.stringContaining('session 9'),
  });
  stages.generate('r', 'a');
  expect(stages.scheduler.receive({ session: 1n, flags: RELEASE, payload: Buffer.alloc(0) })).toMatchObject({
    kind: 'unexpected',
  });
});
