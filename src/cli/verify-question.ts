import { GenerateRequest } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PromptSource } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import type { Run } from '../../gen/stageplane/v1/run.js';
import type { VerifyValues } from './commands/verify.js';
import type { Violation } from './failure.js';
import { readPrompt } from './read-prompt.js';

export type VerifyQuestion =
  /** How the run is asked, and what the whole model is asked. */
  | { readonly kind: 'asked'; readonly request: GenerateRequest; readonly prompt: PromptSource['source'] }
  | { readonly kind: 'refused'; readonly problem: Violation };

/** What a run is asked: the prompt of its own that it answers, or the one that was given. */
export async function verifyQuestion(
  { runId, mode, plan }: Run,
  { prompt, chat, maxTokens = 0 }: VerifyValues,
): Promise<VerifyQuestion> {
  const field = '--prompt';
  if (mode === RunMode.RUN_MODE_ONE_SHOT) {
    const message = `cannot be given to run ${runId}, which answers a prompt of its own: leave it out`;
    if (prompt !== undefined) return { kind: 'refused', problem: { field, message } };
    const request = GenerateRequest.fromPartial({ runId, attach: true });
    return { kind: 'asked', request, prompt: plan?.runtime?.prompt?.source };
  }
  const message = `is needed: run ${runId} is SERVING and has no answer of its own`;
  if (prompt === undefined) return { kind: 'refused', problem: { field, message } };
  const read = await readPrompt(prompt);
  if (read.kind === 'refused') return { kind: 'refused', problem: { field, message: read.problem } };
  const source = { $case: chat ? 'userMessage' : 'inline', value: read.value } as const;
  const request = GenerateRequest.fromPartial({ runId, runtime: { maxTokens, prompt: { source } } });
  return { kind: 'asked', request, prompt: source };
}
