import type { SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { samplingProblems } from '../core/sampling-problems.js';
import type { AnswerSampling, SamplingSettings } from './engine/sampling.js';

/** Whole numbers of 32 bits, little endian, before the tokens. A stage of another version must not guess at them. */
const SETTING_WORDS = 12;
const WORD_BYTES = 4;

export type SamplingRead =
  | { readonly kind: 'read'; readonly sampling: AnswerSampling | undefined }
  /** `problem` goes on a sentence about the object. */
  | { readonly kind: 'malformed'; readonly problem: string };

/** A policy of the wire as an engine takes it. */
export function samplingSettings(policy: SamplingPolicy, seed: bigint): SamplingSettings {
  return { ...policy, seed };
}

/**
 * The payload of a SAMPLING object: how many words the settings have, the fields of the policy in the order of their
 * numbers, seed u64, position, then the tokens of the prompt's end. Nothing when `sampling` is absent: as planned.
 */
export function encodeSampling(sampling: AnswerSampling | undefined): Uint8Array {
  if (sampling === undefined) return new Uint8Array();
  const { settings, position, promptTail } = sampling;
  const words = [
    SETTING_WORDS,
    settings.temperatureMillis,
    settings.topK,
    settings.topPMillis,
    settings.minPMillis,
    settings.repeatPenaltyMillis,
    settings.repeatLastN,
    settings.presencePenaltyMillis,
    settings.frequencyPenaltyMillis,
    Number(BigInt.asUintN(32, settings.seed)),
    Number(settings.seed >> 32n),
    position,
    ...promptTail,
  ];
  const payload = new DataView(new ArrayBuffer(words.length * WORD_BYTES));
  for (const [index, word] of words.entries()) payload.setUint32(index * WORD_BYTES, word, true);
  return new Uint8Array(payload.buffer);
}

/** Reads that payload again; settings out of their ranges are malformed. */
export function decodeSampling(payload: Uint8Array): SamplingRead {
  if (payload.byteLength === 0) return { kind: 'read', sampling: undefined };
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const word = (index: number) => view.getUint32(index * WORD_BYTES, true);
  if (payload.byteLength % WORD_BYTES !== 0 || word(0) !== SETTING_WORDS) {
    return { kind: 'malformed', problem: `is a SAMPLING of another version than this stage's` };
  }
  const words = payload.byteLength / WORD_BYTES;
  if (words < SETTING_WORDS) return { kind: 'malformed', problem: `is a SAMPLING that ends after ${words} words` };
  const policy: SamplingPolicy = {
    temperatureMillis: word(1),
    topK: word(2),
    topPMillis: word(3),
    minPMillis: word(4),
    repeatPenaltyMillis: word(5),
    repeatLastN: word(6),
    presencePenaltyMillis: word(7) | 0,
    frequencyPenaltyMillis: word(8) | 0,
  };
  const [problem] = samplingProblems(policy);
  if (problem !== undefined) {
    return { kind: 'malformed', problem: `is a SAMPLING whose ${problem.field} ${problem.description}` };
  }
  const seed = (BigInt(word(10)) << 32n) | BigInt(word(9));
  const promptTail = Array.from({ length: words - SETTING_WORDS }, (_, index) => word(SETTING_WORDS + index));
  return { kind: 'read', sampling: { settings: samplingSettings(policy, seed), position: word(11), promptTail } };
}
