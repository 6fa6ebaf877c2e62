import { limits } from '../../core/limits.js';
import { readCount, readSeed, readShare, readSignedThousandths, readText, readThousandths } from '../config/readers.js';
import { list, optional, type Values } from '../config/setting.js';

/** How tokens are picked and what ends an answer. `otherwise` says what an absent flag means. */
function settingsFor(otherwise: (own: string) => string) {
  return {
    temperature: optional(readThousandths(0), {
      placeholder: '<number>',
      description: `such as 0.7: higher is more varied; default: ${otherwise('0, always the likeliest token')}`,
    }),
    topK: optional(readCount(1), {
      placeholder: '<count>',
      description: `likeliest tokens to choose from; default: ${otherwise('all')}`,
    }),
    topP: optional(readShare, {
      placeholder: '<share>',
      description: `choose from the likeliest tokens that together have this share, such as 0.95; default: ${otherwise('1')}`,
    }),
    minP: optional(readShare, {
      placeholder: '<share>',
      description: `leave out tokens less likely than this share of the likeliest, such as 0.05; default: ${otherwise('0')}`,
    }),
    repeatPenalty: optional(readThousandths(limits.leastRepeatPenaltyMillis, limits.mostRepeatPenaltyMillis), {
      placeholder: '<number>',
      description: `above 1, such as 1.1: say less of what was said lately; default: ${otherwise('1')}`,
    }),
    repeatLastN: optional(readCount(1, limits.repeatLastTokens), {
      placeholder: '<tokens>',
      description: `tokens of prompt and answer that --repeat-penalty looks back on; default: ${otherwise(String(limits.defaultRepeatLastTokens))}`,
    }),
    presencePenalty: optional(readSignedThousandths(limits.penaltyMillis), {
      placeholder: '<number>',
      description: `-2 to 2: say less of what the answer has said at all; default: ${otherwise('0')}`,
    }),
    frequencyPenalty: optional(readSignedThousandths(limits.penaltyMillis), {
      placeholder: '<number>',
      description: `-2 to 2: say less of it for every time that it was said; default: ${otherwise('0')}`,
    }),
    seed: optional(readSeed, {
      placeholder: '<number>',
      description: `what chance begins with: the same seed gives the same choices; default: ${otherwise('0')}`,
    }),
    stop: list(readText, {
      placeholder: '<text>',
      description: `end an answer before this text; may be repeated, ${limits.stopTexts} times at most; default: ${otherwise('none')}`,
    }),
  };
}

/** For a run. */
export const samplingSettings = settingsFor((own) => own);

/** For an answer of a run that is there. */
export const answerSamplingSettings = settingsFor(() => "the run's");

export type SamplingValues = Values<typeof samplingSettings>;
