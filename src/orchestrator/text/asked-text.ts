import type { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { AnswerSampling, GenerateText } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { RunState } from '../../core/machine/state.js';
import { answerSampling } from '../../token-endpoint/answer-sampling.js';
import { promptOf } from '../../token-endpoint/prompt-of.js';

type AskedText = Omit<GenerateText, 'requestId'>;

/** What a launcher's request comes to at the endpoint of a run. */
export function askedText(run: RunState, request: GenerateRequest): AskedText {
  const { runtime, messages, conversation } = request;
  const prompt = messages.length > 0 ? { prompt: '', messages } : promptOf(runtime?.prompt?.source);
  const asked = runtime?.stop ?? [];
  const stop = asked.length > 0 ? asked : (run.plan.runtime?.stop ?? []);
  const sampling = samplingOf(run, request);
  return { ...prompt, conversation, parseSpecial: false, maxTokens: runtime?.maxTokens ?? 0, sampling, stop };
}

/** What the prompt of a ONE_SHOT run comes to. */
export function ownText(run: RunState): AskedText {
  const { prompt, stop = [] } = run.plan.runtime ?? {};
  return {
    ...promptOf(prompt?.source),
    conversation: '',
    parseSpecial: false,
    maxTokens: 0,
    sampling: samplingOf(run),
    stop,
  };
}

/** What the stages of a run must be told of one answer; undefined when it is picked as planned. */
export function samplingOf(
  { plan, settings }: RunState,
  asked?: Pick<GenerateRequest, 'runtime' | 'seed'>,
): AnswerSampling | undefined {
  // The seed is the same for all stages.
  const planned = { policy: plan.runtime?.sampling, seed: settings[0]?.seed ?? 0n };
  return answerSampling(planned, { policy: asked?.runtime?.sampling, seed: asked?.seed });
}
