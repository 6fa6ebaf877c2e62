import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PromptSource, RunPlan } from '../../gen/stageplane/v1/plan.js';
import type { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { promptOf } from '../token-endpoint/prompt-of.js';
import type { ReplayedAnswer } from './replayed-answer.js';
import { WholeModel } from './whole-model.js';
import { wholePlan } from './whole-plan.js';

export interface ReplayRequest {
  readonly plan: RunPlan;
  /** Of one of the run's stages. */
  readonly settings: StageSettings;
  readonly modelPath: string;
  /** The file with the tokenizer; empty when the engine needs none. */
  readonly tokenizerPath: string;
  readonly prompt: PromptSource['source'];
  /** At least 1. */
  readonly maxTokens: number;
}

export type ReplayOutcome =
  | { readonly kind: 'answered'; readonly answer: ReplayedAnswer }
  /** `message` is a whole sentence. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'interrupted' };

/** Answers a prompt as a run does, with the whole model in one process. Nothing of it is left when this resolves. */
export async function replay(request: ReplayRequest, signal: AbortSignal): Promise<ReplayOutcome> {
  const whole = wholePlan(request.plan, request.settings);
  if (whole.kind === 'rejected') {
    return { kind: 'failed', message: `the run cannot be planned as one stage: ${whole.message}` };
  }
  const folder = await mkdtemp(join(tmpdir(), 'stageplane-verify-'));
  try {
    const { settings, modelPath, tokenizerPath } = request;
    const model = new WholeModel({ whole, settings: wholeSettings(settings), modelPath, tokenizerPath, folder });
    const answer = await Promise.race([
      model.answer(promptOf(request.prompt), request.maxTokens),
      model.failed,
      abortOf(signal),
    ]);
    const complaint = await model.close();
    if (answer) return answered(answer);
    if (complaint === undefined || signal.aborted) return { kind: 'interrupted' };
    return { kind: 'failed', message: complaint };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One conversation is replayed, and what others hold changes no bit of it. The bytes planned were those of one stage. */
function wholeSettings(settings: StageSettings): StageSettings {
  return { ...settings, sessions: 1, expectedBytes: 0n };
}

function answered(answer: ReplayedAnswer): ReplayOutcome {
  const { refusal } = answer;
  return refusal === undefined ? { kind: 'answered', answer } : { kind: 'failed', message: refusal };
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
