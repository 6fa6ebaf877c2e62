import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { EchoStages } from './echo-stages.js';

const CONTEXT = 24;
const CONVERSATIONS = ['', 'one', 'two'];

/** A token that depends on everything before it; now and then the one that ends a generation. */
function next(tokens: readonly number[]): number {
  let hash = 7;
  for (const token of tokens) hash = (Math.imul(hash, 31) + token) >>> 0;
  return hash % 8 === 0 ? 0 : 97 + (hash % 26);
}

/** What one stage that is asked this alone would say. */
function expected(prompt: string, maxTokens: number): string {
  const tokens = [...Buffer.from(prompt)];
  let text = '';
  while (text.length < maxTokens && tokens.length <= CONTEXT) {
    const token = next(tokens);
    if (token === 0) break;
    tokens.push(token);
    text += String.fromCharCode(token);
  }
  return text;
}

const action = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('generate' as const),
      // Often one begins another, so that turns of a conversation share much.
      prompt: fc
        .tuple(fc.integer({ min: 1, max: CONTEXT - 1 }), fc.constantFrom('', '', 'x'))
        .map(([length, tail]) => 'a'.repeat(length) + tail),
      maxTokens: fc.integer({ min: 1, max: 8 }),
      conversation: fc.constantFrom(...CONVERSATIONS),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('step' as const), pick: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), back: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), name: fc.constantFrom(...CONVERSATIONS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('keep' as const), most: fc.nat(CONTEXT) }) },
);

test('whatever comes between, every answer is the one that its prompt alone gets, and nothing stays held', () => {
  fc.assert(
    fc.property(
      fc.array(action, { maxLength: 80, size: 'max' }),
      fc.integer({ min: 1, max: 3 }),
      (actions, sessions) => {
        const stages = new EchoStages({ contextLength: CONTEXT, sessions }, next);
        const prompts: { prompt: string; maxTokens: number }[] = [];
        for (const act of actions) {
          if (act.kind === 'generate') {
            stages.generate(`r${prompts.length}`, act.prompt, act);
            prompts.push(act);
          } else if (act.kind === 'step') stages.step(act.pick);
          else if (act.kind === 'cancel') {
            stages.scheduler.cancel({ requestId: `r${prompts.length - 1 - act.back}`, reason: '' });
          } else if (act.kind === 'end') stages.scheduler.endConversation(act.name);
          else stages.keepAtMost = act.most;
          expect(stages.held.size).toBeLessThanOrEqual(sessions);
        }
        stages.settle();
        for (const [index, { prompt, maxTokens }] of prompts.entries()) {
          const done = stages.done(`r${index}`)!;
          const whole = expected(prompt, maxTokens);
          if (done.reason === TextDoneReason.TEXT_DONE_REASON_CANCELLED) {
            expect(whole.startsWith(stages.text(`r${index}`))).toBe(true);
          } else expect(stages.text(`r${index}`)).toBe(whole);
        }
        for (const name of CONVERSATIONS) stages.scheduler.endConversation(name);
        stages.settle();
        expect(stages.scheduler.load()).toEqual({ waitingPrompts: 0, runningAnswers: 0, heldSessions: 0 });
        expect(stages.held.size).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});
