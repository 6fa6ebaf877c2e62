import type { SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { limits } from './limits.js';

/** What is wrong with one field of a message; `description` is a sentence that continues the field's name. */
export interface FieldProblem {
  readonly field: string;
  readonly description: string;
}

/** Every field of a policy that is out of its range. */
export function samplingProblems(policy: SamplingPolicy): FieldProblem[] {
  const { wholeMillis, penaltyMillis, leastRepeatPenaltyMillis, mostRepeatPenaltyMillis, repeatLastTokens } = limits;
  return [
    ...outside('top_p_millis', policy.topPMillis, 0, wholeMillis),
    ...outside('min_p_millis', policy.minPMillis, 0, wholeMillis),
    ...(policy.repeatPenaltyMillis === 0
      ? []
      : outside(
          'repeat_penalty_millis',
          policy.repeatPenaltyMillis,
          leastRepeatPenaltyMillis,
          mostRepeatPenaltyMillis,
          ', or 0 for none',
        )),
    ...outside('repeat_last_n', policy.repeatLastN, 0, repeatLastTokens),
    ...outside('presence_penalty_millis', policy.presencePenaltyMillis, -penaltyMillis, penaltyMillis),
    ...outside('frequency_penalty_millis', policy.frequencyPenaltyMillis, -penaltyMillis, penaltyMillis),
  ];
}

/** The texts that end an answer. */
export function stopProblems(stop: readonly string[]): FieldProblem[] {
  if (stop.length > limits.stopTexts) {
    const description = `has ${stop.length} texts, ${limits.stopTexts} at most are looked for: leave some out`;
    return [{ field: 'stop', description }];
  }
  return stop.flatMap((text, index) => {
    const problem = problemOfStop(text);
    return problem === undefined ? [] : [{ field: `stop[${index}]`, description: problem }];
  });
}

function problemOfStop(text: string): string | undefined {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes === 0) return 'is empty and would end every answer at once: leave it out';
  if (bytes > limits.stopTextBytes) {
    return `has ${bytes} bytes, ${limits.stopTextBytes} at most are looked for: shorten it`;
  }
  return /\p{Surrogate}/u.test(text) ? 'is not UTF-8: it has half of a surrogate pair' : undefined;
}

function outside(field: string, value: number, least: number, most: number, otherwise = ''): FieldProblem[] {
  return value >= least && value <= most
    ? []
    : [{ field, description: `is ${value}: ask for ${least} to ${most}${otherwise}` }];
}
