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
  isMessage,
  type Reader,
  type Steps,
  unset,
} from './read-message.js';
import { enumValue, text, u32 } from './read-scalar.js';

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

export const sampling = ((value, faults) => {
  if (!isMessage<SamplingPolicy>(value)) return unset(faults);
  return {
    temperatureMillis: field('temperature_millis', u32, value.temperatureMillis, faults),
    topK: field('top_k', u32, value.topK, faults),
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
  };
}) satisfies Reader<Required<RuntimeConfig>>;

/** As a plan has it, which says `max_tokens` itself. */
export const runtimePlan = ((value, faults) => {
  if (!isMessage<RuntimePlan>(value)) return unset(faults);
  return {
    prompt: field('prompt', promptSource, value.prompt, faults),
    sampling: field('sampling', sampling, value.sampling, faults),
    tokenOutputPolicy: field('token_output_policy', tokenOutputPolicy, value.tokenOutputPolicy, faults),
  };
}) satisfies Reader<Required<RuntimePlan>>;
