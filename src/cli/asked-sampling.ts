import { SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import type { SamplingValues } from './commands/sampling-settings.js';

/** The sampling that flags ask for; what they leave out is as in `otherwise`. Undefined when they ask for none. */
export function askedSampling(
  values: Partial<SamplingValues>,
  otherwise: SamplingPolicy = SamplingPolicy.create(),
): SamplingPolicy | undefined {
  const asked: Partial<SamplingPolicy> = {
    temperatureMillis: values.temperature,
    topK: values.topK,
    topPMillis: values.topP,
    minPMillis: values.minP,
    repeatPenaltyMillis: values.repeatPenalty,
    repeatLastN: values.repeatLastN,
    presencePenaltyMillis: values.presencePenalty,
    frequencyPenaltyMillis: values.frequencyPenalty,
  };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : { ...otherwise, ...Object.fromEntries(given) };
}
