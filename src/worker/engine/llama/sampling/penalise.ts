import { penalises, penalisesRepeats, type SamplingSettings } from '../../sampling.js';

/** What was said before; `SaidTokens` is it. */
export interface SaidBefore {
  readonly counts: ReadonlyMap<number, number>;
  recent(): ReadonlySet<number>;
}

/**
 * Makes what was said less likely, or more, in place. The repeat penalty is llama.cpp's, over prompt and answer: it divides
 * logits above 0 and multiplies the others. Presence and frequency are OpenAI's, over the answer alone: its documents
 * take `count * frequency + (count > 0) * presence` from a logit, where `count` is how often the token was sampled.
 * Throws when there are penalties and nobody has told what was said.
 */
export function penalise(logits: Float32Array, settings: SamplingSettings, said: SaidBefore | undefined): void {
  if (!penalises(settings)) return;
  if (said === undefined) {
    throw new Error(
      'penalties are asked for, and no SAMPLING has told this stage the prompt: run one version everywhere',
    );
  }
  // What a prompt names outside of the vocabulary is no index here, and changes nothing.
  if (penalisesRepeats(settings)) {
    const penalty = settings.repeatPenaltyMillis / 1000;
    for (const id of said.recent()) logits[id] = logits[id]! > 0 ? logits[id]! / penalty : logits[id]! * penalty;
  }
  const presence = settings.presencePenaltyMillis / 1000;
  const frequency = settings.frequencyPenaltyMillis / 1000;
  if (presence === 0 && frequency === 0) return;
  for (const [id, count] of said.counts) logits[id] = logits[id]! - (count * frequency + presence);
}
