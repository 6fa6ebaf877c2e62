// What several conversations make of a slow network: while one waits for its token to come round, others compute.

import { figure, goalAtLeast, heading, inTurns, median, ratios } from '../figures.mjs';
import { Chain } from './chain.mjs';
import { smallModel } from './model.mjs';

const ROUNDS = 5;
const CONVERSATIONS = 6;
const TOKENS = 32;
const DELAY_MILLIS = 10;

/**
 * Two cores bound what a model can gain: SmolLM2 computes 26 ms for a token, so that 6 conversations are at most 5 times
 * as fast as one that waits for 40 ms besides. With a small model the network alone is what there is to hide.
 */
export async function conversations({ model, sliceFolder, rounds = ROUNDS }) {
  heading(`conversations: 3 stages, each of the 4 edges ${DELAY_MILLIS} ms longer, medians of ${rounds} rounds`);
  await measure(await smallModel(sliceFolder), sliceFolder, rounds);
  await measure(model, sliceFolder, rounds);
}

async function measure(model, sliceFolder, rounds) {
  const chain = await Chain.start(model, sliceFolder, 3, { delayMillis: DELAY_MILLIS, sessions: CONVERSATIONS });
  const rates = await inTurns(rounds, {
    one: () => totalRate(chain, 1),
    all: () => totalRate(chain, CONVERSATIONS),
  });
  await chain.stop();
  figure(`${model.name}, 1 conversation`, median(rates.one).toFixed(1), 'tokens/s');
  figure(`${CONVERSATIONS} conversations together`, median(rates.all).toFixed(1), 'tokens/s');
  goalAtLeast(`${model.name}, ${CONVERSATIONS} conversations / 1`, ratios(rates.all, rates.one), 5.5);
}

/** Tokens per second of all together, from the last first token, when all are at it, to the first end. */
async function totalRate(chain, count) {
  // The same for all, since the model has much to say to it: an answer that ends early leaves nothing to measure.
  const ask = () => chain.answer({ prompt: 'Once upon a time', maxTokens: TOKENS });
  const answers = await Promise.all(Array.from({ length: count }, ask));
  const begin = Math.max(...answers.map(({ at }) => at[0]));
  const end = Math.min(...answers.map(({ at }) => at.at(-1)));
  const tokens = answers.flatMap(({ at }) => at).filter((at) => at > begin && at <= end);
  return (tokens.length * 1000) / (end - begin);
}
