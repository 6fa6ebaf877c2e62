import { limits } from '../../core/limits.js';
import {
  type Body,
  badField,
  isAbsent,
  isObject,
  readFlag,
  readInteger,
  readNumber,
  readText,
  readTexts,
} from './body.js';
import { refuseWhatWeCannot } from './refuse-what-we-cannot.js';

/** How an answer is wanted; what is absent is the run's own. */
export interface GenerationFields {
  readonly model: string;
  /** 0 leaves it to the run. */
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly sampling: SamplingFields;
  readonly seed: bigint | undefined;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
}

/** In thousandths where they say so, as SamplingPolicy has them. */
export interface SamplingFields {
  readonly temperatureMillis?: number | undefined;
  readonly topK?: number | undefined;
  readonly topPMillis?: number | undefined;
  readonly minPMillis?: number | undefined;
  readonly repeatPenaltyMillis?: number | undefined;
  readonly repeatLastN?: number | undefined;
  readonly presencePenaltyMillis?: number | undefined;
  readonly frequencyPenaltyMillis?: number | undefined;
}

/** The most that a field of 32 bits holds. */
const MOST = 2 ** 32 - 1;
/** As many, and as hot, as OpenAI takes. */
const STOPS = 4;
const HOTTEST = 2000;

/** What chat and text completions have in common. Throws HttpError that names the field. */
export function readGenerationFields(body: Body): GenerationFields {
  refuseWhatWeCannot(body);
  const model = readText(body, 'model');
  if (!model) throw badField('model', 'model is missing: give the id of one that GET /v1/models lists');
  const isStream = readFlag(body, 'stream');
  const seed = readInteger(body, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  return {
    model,
    maxTokens: readInteger(body, 'max_completion_tokens', 1, MOST) ?? readInteger(body, 'max_tokens', 1, MOST) ?? 0,
    stop: readTexts(body, 'stop', STOPS).filter((text) => text !== ''),
    sampling: readSampling(body),
    seed: seed === undefined ? undefined : BigInt.asUintN(64, BigInt(seed)),
    isStream,
    includesUsage: isStream && readIncludesUsage(body),
  };
}

function readSampling(body: Body): SamplingFields {
  const thousandths = (name: string, least: number, most: number): number | undefined => {
    const value = readNumber(body, name, least / 1000, most / 1000);
    return value === undefined ? undefined : Math.round(value * 1000);
  };
  const { wholeMillis, penaltyMillis, leastRepeatPenaltyMillis, mostRepeatPenaltyMillis, repeatLastTokens } = limits;
  const topP = thousandths('top_p', 0, wholeMillis);
  const topK = readInteger(body, 'top_k', -1, MOST);
  return {
    temperatureMillis: thousandths('temperature', 0, HOTTEST),
    // All of them, in other servers' words.
    topK: topK === -1 ? 0 : topK,
    // 0 keeps the likeliest token alone, to clients; to a stage it would be off.
    topPMillis: topP === undefined ? undefined : Math.max(1, topP),
    minPMillis: thousandths('min_p', 0, wholeMillis),
    repeatPenaltyMillis: thousandths('repeat_penalty', leastRepeatPenaltyMillis, mostRepeatPenaltyMillis),
    repeatLastN: readInteger(body, 'repeat_last_n', 0, repeatLastTokens),
    presencePenaltyMillis: thousandths('presence_penalty', -penaltyMillis, penaltyMillis),
    frequencyPenaltyMillis: thousandths('frequency_penalty', -penaltyMillis, penaltyMillis),
  };
}

function readIncludesUsage({ stream_options: options }: Body): boolean {
  if (isAbsent(options)) return false;
  if (isObject(options)) return readFlag(options, 'include_usage');
  throw badField('stream_options', 'stream_options is no object: give {"include_usage": true}, or leave it out');
}
