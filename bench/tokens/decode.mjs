// What splitting costs one conversation: tokens per second of stages against those of the whole model in one process.
import { Chain, rateOf } from './chain.mjs';
import { figure, goalAtLeast, heading, inTurns, median, medianRatio } from './figures.mjs';
import { wholeModel } from './whole-model.mjs';

const ROUNDS = 7;
/** Of one answer; fewer when a busy machine would take too long for them. */
const TOKENS = 32;
const SLICE_MILLIS = 1500;
const STORY = [{ role: 'user', content: 'Tell me a long story about the keeper of an old lighthouse.' }];

export async function decode({ model, sliceFolder }) {
  heading(`decode: one conversation, ${TOKENS} tokens, medians of ${ROUNDS} rounds`);
  const wholes = {
    'whole x1': await wholeModel(model, 1, 'sleeping'),
    'whole x2': await wholeModel(model, 2, 'sleeping'),
    'whole x2 polling': await wholeModel(model, 2, 'polling'),
  };
  const chains = {
    '1 stage x1': await Chain.start(model, sliceFolder, 1),
    '2 stages x1': await Chain.start(model, sliceFolder, 2),
    '3 stages x1': await Chain.start(model, sliceFolder, 3),
    '3 stages x2': await Chain.start(model, sliceFolder, 3, { threads: 2 }),
  };
  const rates = await inTurns(ROUNDS, {
    ...eachOf(wholes, (whole) => whole.rate(TOKENS, SLICE_MILLIS)),
    ...eachOf(chains, async (chain) => rateOf(await tell(chain))),
  });
  for (const whole of Object.values(wholes)) whole.stop();
  for (const chain of Object.values(chains)) await chain.stop();
  for (const [name, values] of Object.entries(rates)) figure(name, median(values).toFixed(1), 'tokens/s');
  report(rates);
}

function tell(chain) {
  const begin = performance.now();
  return chain.answer({ messages: STORY, maxTokens: TOKENS }, (tokens, cancel) => {
    if (tokens > 1 && performance.now() - begin > SLICE_MILLIS) cancel();
  });
}

function report(rates) {
  const three = rates['3 stages x1'];
  const hopMicros = three.map((rate, round) => (1e6 / rate - 1e6 / rates['1 stage x1'][round]) / 2);
  figure('a further hop, from 1 stage to 3', median(hopMicros).toFixed(0), 'µs per token');
  goalAtLeast('3 stages / whole model, 1 thread each', medianRatio(three, rates['whole x1']), 0.9);
  goalAtLeast(
    '3 stages / whole model, 2 threads that sleep when idle',
    medianRatio(rates['3 stages x2'], rates['whole x2']),
    0.8,
  );
  goalAtLeast(
    '3 stages / whole model with the threads of the library',
    medianRatio(rates['3 stages x2'], rates['whole x2 polling']),
    0.5,
  );
}

function eachOf(subjects, once) {
  return Object.fromEntries(Object.entries(subjects).map(([name, subject]) => [name, () => once(subject)]));
}
