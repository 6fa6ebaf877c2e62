import { isGreedy, type SamplingSettings } from '../sampling.js';
import { candidatesOf } from './sampling/candidates.js';
import { draw, unitAt } from './sampling/draw.js';
import { indexOfGreatest } from './sampling/greatest.js';
import { penalise, type SaidBefore } from './sampling/penalise.js';

/**
 * The token that stands at `position`, in the order of llama.cpp's default chain (`common_params_sampling.samplers`):
 * penalties, top_k, top_p, min_p, temperature, draw. Greedy takes the greatest logit, the lowest id among equals. The draw
 * depends on the seed and the position alone, so that a step that is repeated after a rollback draws the same, and
 * sessions do not disturb each other. A greatest logit that is infinite is the token. Changes `logits` where it penalises;
 * `said` is needed for that. Throws when a logit is no number.
 */
export function pickToken(
  logits: Float32Array,
  position: number,
  settings: SamplingSettings,
  said?: SaidBefore,
): number {
  penalise(logits, settings, said);
  const greatest = indexOfGreatest(logits);
  const most = logits[greatest]!;
  if (isGreedy(settings) || !Number.isFinite(most)) return greatest;
  const candidates = candidatesOf(logits, most, settings);
  const temperature = settings.temperatureMillis / 1000;
  const unit = unitAt(settings.seed, position);
  if (candidates === undefined) return draw(logits, most, temperature, unit);
  return candidates[draw(gather(logits, candidates), most, temperature, unit)]!;
}

function gather(logits: Float32Array, ids: Int32Array): Float32Array {
  const gathered = new Float32Array(ids.length);
  for (let index = 0; index < ids.length; index++) gathered[index] = logits[ids[index]!]!;
  return gathered;
}
