import { describe, expect, it } from 'vitest';
import { StageFaultReason as Reason } from '../../../gen/stageplane/v1/run.js';
import { type TextAnswer, TextDone, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { ignoredInAll } from '../../../src/core/machine/ignored-messages.js';
import { step } from '../../../src/core/machine/step.js';
import { created, fault, run1, running } from './two-stage-run.js';

function answer(reason: TextDoneReason): TextAnswer {
  return { text: 'Once', tokenIds: [1], done: TextDone.create({ reason }) };
}

describe('an answer', () => {
  it.each([
    TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION,
    TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS,
    TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL,
    TextDoneReason.TEXT_DONE_REASON_CANCELLED,
    TextDoneReason.TEXT_DONE_REASON_SLOW_READER,
  ])('that ends with %i is in the same commit as the completion, and not in memory', (reason) => {
    const memory = running('Tell me a story.');
    const draft = memory.draft();
    step(draft, { kind: 'answer-ended', ...run1, answer: answer(reason) });
    const changes = draft.changes();
    expect(changes?.answers).toEqual([{ runId: 1n, answer: answer(reason) }]);
    expect(changes?.runs).toMatchObject([{ after: { phase: 'TEARING_DOWN', outcome: 'COMPLETED' } }]);
    draft.applyTo(memory.world);
    expect(JSON.stringify(memory.run(1), (_key, value) => String(value))).not.toContain('Once');
  });

  it('that breaks off is committed without any change of the run', () => {
    const memory = running('Tell me a story.');
    const draft = memory.draft();
    step(draft, { kind: 'answer-ended', ...run1, answer: answer(TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE) });
    expect(draft.changes()).toMatchObject({ runs: [], events: [], answers: [{ runId: 1n }] });
  });

  it('nobody waits for is ignored: of a SERVING run, before the barrier, of another generation, after the true one', () => {
    const ended = answer(TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
    const early = created('Tell me a story.');
    const serving = running();
    const completed = running('Tell me a story.');
    completed.step({ kind: 'answer-ended', ...run1, answer: ended });
    for (const memory of [early, serving, completed]) {
      const before = memory.run(1);
      memory.step({ kind: 'answer-ended', ...run1, answer: ended });
      memory.step({ kind: 'answer-ended', ...run1, generation: 2, answer: ended });
      memory.step({ kind: 'answer-failed', ...run1, fault: fault(Reason.STAGE_FAULT_REASON_PROMPT_REFUSED) });
      expect(memory.run(1)).toEqual(before);
      expect(ignoredInAll(memory.world.ignored)).toBe(3);
      expect(memory.turn!.answers.size).toBe(0);
    }
  });

  it('that cannot be given ends the run with the reason it was told', () => {
    const memory = running('Tell me a story.');
    const refused = fault(Reason.STAGE_FAULT_REASON_PROMPT_REFUSED, 'the prompt has 5000 tokens');
    memory.step({ kind: 'answer-failed', ...run1, fault: refused });
    expect(memory.run(1)).toMatchObject({ phase: 'TEARING_DOWN', outcome: 'FAULTED' });
    expect(memory.run(1).cause).toMatchObject({ component: 'token-endpoint', fixed: true, fault: refused });
  });
});
