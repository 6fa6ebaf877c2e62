/** How the tokens of a session are picked: the fields of `SamplingPolicy`, each of them off at 0, and the seed. */
export interface SamplingSettings {
  /** Thousandths; 0 is greedy. */
  readonly temperatureMillis: number;
  /** Candidates kept; 0 keeps all. */
  readonly topK: number;
  /** Thousandths; 0 and 1000 keep all. */
  readonly topPMillis: number;
  /** Thousandths; 0 keeps all. */
  readonly minPMillis: number;
  /** Thousandths; 0 and 1000 are off. */
  readonly repeatPenaltyMillis: number;
  /** Tokens; 0 is the default. */
  readonly repeatLastN: number;
  /** Thousandths, of either sign. */
  readonly presencePenaltyMillis: number;
  /** Thousandths, of either sign. */
  readonly frequencyPenaltyMillis: number;
  readonly seed: bigint;
}

/** Sampling for one answer, and what its penalties must know of the prompt. */
export interface AnswerSampling {
  readonly settings: SamplingSettings;
  /** Position of the answer's first token: how many the prompt has. */
  readonly position: number;
  /** The prompt's last tokens, oldest first; as many as the repeat penalty looks back on, or all. */
  readonly promptTail: readonly number[];
}

export const GREEDY: SamplingSettings = {
  temperatureMillis: 0,
  topK: 0,
  topPMillis: 0,
  minPMillis: 0,
  repeatPenaltyMillis: 0,
  repeatLastN: 0,
  presencePenaltyMillis: 0,
  frequencyPenaltyMillis: 0,
  seed: 0n,
};

/** Whether the likeliest token is always the next, once penalties are done. */
export function isGreedy({ temperatureMillis, topK }: SamplingSettings): boolean {
  return temperatureMillis === 0 || topK === 1;
}

export function penalisesRepeats({ repeatPenaltyMillis }: SamplingSettings): boolean {
  return repeatPenaltyMillis !== 0 && repeatPenaltyMillis !== 1000;
}

/** Whether a token depends on those before it by more than the model. */
export function penalises(settings: SamplingSettings): boolean {
  return penalisesRepeats(settings) || settings.presencePenaltyMillis !== 0 || settings.frequencyPenaltyMillis !== 0;
}
