import {
  type PromptSource,
  type RuntimeConfig,
  type RuntimePlan,
  type SamplingPolicy,
  TokenOutputPolicy,
} from '../../../gen/stageplane/v1/plan.js';
import {
  type Choice,
  type Chosen,
  field,
  fieldsOf,
  gained,
  isMessage,
  list,
  type Reader,
  type Steps,
  unset,
} from './read-message.js';
import { enumValue, s32, text, u32 } from './read-scalar.js';

const promptSourceSteps = { inline: 'inline', userMessage: 'user_message' } satisfies Steps<PromptSource['source']>;

const promptSource: Reader<Chosen<PromptSource>> = (value, faults) => {
  const set = fieldsOf<Choice>(fieldsOf<PromptSource>(value).source);
  switch (set.$case) {
    case 'inline':
      return { source: { $case: 'inline', value: field(promptSourceSteps.inline, text, set.value, faults) } };
    case 'userMessage':
      return { source: { $case: 'userMessage', value: field(promptSourceSteps.userMessage, text, set.value, faults) } };
    default:
      return unset(faults, promptSourceSteps);
  }
};

const tokenOutputPolicy = enumValue(TokenOutputPolicy);

const stop = gained(list(text), () => []);
const gainedU32 = gained(u32, () => 0);
const gainedS32 = gained(s32, () => 0);

export const sampling = ((value, faults) => {
  if (!isMessage<SamplingPolicy>(value)) return unset(faults);
  return {
    temperatureMillis: field('temperature_millis', u32, value.temperatureMillis, faults),
    topK: field('top_k', u32, value.topK, faults),
    topPMillis: field('top_p_millis', gainedU32, value.topPMillis, faults),
    minPMillis: field('min_p_millis', gainedU32, value.minPMillis, faults),
    repeatPenaltyMillis: field('repeat_penalty_millis', gainedU32, value.repeatPenaltyMillis, faults),
    repeatLastN: field('repeat_last_n', gainedU32, value.repeatLastN, faults),
    presencePenaltyMillis: field('presence_penalty_millis', gainedS32, value.presencePenaltyMillis, faults),
    frequencyPenaltyMillis: field('frequency_penalty_millis', gainedS32, value.frequencyPenaltyMillis, faults),
  };
}) satisfies Reader<Required<SamplingPolicy>>;

/** As a planner input has it. */
export const runtimeConfig = ((value, faults) => {
  if (!isMessage<RuntimeConfig>(value)) return unset(faults);
  return {
    maxTokens: field('max_tokens', u32, value.maxTokens, faults),
    prompt: field('prompt', promptSource, value.prompt, faults),
    sampling: field('sampling', sampling, value.sampling, faults),
    tokenOutputPolicy: field('token_output_policy', tokenOutputPolicy, value.tokenOutputPolicy, faults),
    stop: field('stop', stop, value.stop, faults),
  };
}) satisfies Reader<Required<RuntimeConfig>>;

/** As a plan has it, which says `max_tokens` itself. */
export const runtimePlan = ((value, faults) => {
  if (!isMessage<RuntimePlan>(value)) return unset(faults);
  return {
    prompt: field('prompt', promptSource, value.prompt, faults),
    sampling: field('sampling', sampling, value.sampling, faults),
    tokenOutputPolicy: field('token_output_policy', tokenOutputPolicy, value.tokenOutputPolicy, faults),
    stop: field('stop', stop, value.stop, faults),
  };
}) satisfies Reader<Required<RuntimePlan>>;
