// What splitting costs one conversation: tokens of stages against those of the whole model in one process. All of them are
// loaded at once and decode a few tokens each in turns, so that a round is over before the machine has become another one.
import { figure, goalAtLeast, heading, inTurns, median, ratios, spread } from '../figures.mjs';
import { Chain } from './chain.mjs';
import { wholeModel } from './whole-model.mjs';

/** Ratios of single rounds differ by a tenth: 80 leave the median some hundredths of room, 500 one. */
const ROUNDS = 80;
const TOKENS = 8;
/** Before the first round: V8 compiles what runs often, and stages have more for it to compile. */
const WARM_TOKENS = 128;

export async function decode({ model, sliceFolder, rounds = ROUNDS }) {
  heading(`decode: one conversation, ${TOKENS} tokens each in turns, medians of ${rounds} rounds [95 % sure]`);
  const contestants = {
    '1 stage x1': await Chain.start(model, sliceFolder, 1),
    '2 stages x1': await Chain.start(model, sliceFolder, 2),
    '3 stages x1': await Chain.start(model, sliceFolder, 3),
    'whole x1': await wholeModel(model, 1, 'sleeping'),
    '3 stages x2': await Chain.start(model, sliceFolder, 3, { threads: 2 }),
    'whole x2': await wholeModel(model, 2, 'sleeping'),
    'whole x2 polling': await wholeModel(model, 2, 'polling'),
  };
  for (const contestant of Object.values(contestants)) await contestant.burst(Math.min(WARM_TOKENS, rounds * TOKENS));
  const names = Object.entries(contestants);
  const { quiet, ...bursts } = await inTurns(
    rounds,
    Object.fromEntries(names.map(([name, contestant]) => [name, () => contestant.burst(TOKENS)])),
  );
  for (const contestant of Object.values(contestants)) await contestant.stop();
  report(
    names.map(([name]) => name),
    bursts,
  );
  const undisturbed = Object.entries(bursts).map(([name, all]) => [name, all.filter((_, round) => quiet[round])]);
  if (!quiet.includes(true) || !quiet.includes(false)) return;
  console.log('\n  the same of the rounds alone that nobody disturbed');
  reportRatios(Object.fromEntries(undisturbed));
}

function report(names, bursts) {
  for (const name of names) {
    spread(
      name,
      bursts[name].map(({ millis }) => millis),
      'ms a token',
      2,
    );
    figure('', median(bursts[name].map(({ processorMillis }) => processorMillis)).toFixed(2), 'ms of processor');
  }
  reportRatios(bursts);
}

function reportRatios(bursts) {
  const wall = (name) => bursts[name].map(({ millis }) => millis);
  const processor = (name) => bursts[name].map(({ processorMillis }) => processorMillis);
  const further = (times) => times('3 stages x1').map((time, round) => (time - times('1 stage x1')[round]) * 500);
  spread('a further stage, from 1 to 3: a token takes longer by', further(wall), 'µs', 0);
  spread('and takes more of the processors by', further(processor), 'µs', 0);
  // Rates are the reciprocals of times.
  const of = (stages, whole, times) => ratios(times(whole), times(stages));
  goalAtLeast('3 stages / whole model, 1 thread each', of('3 stages x1', 'whole x1', wall), 0.9);
  goalAtLeast('3 stages / whole model, 2 threads that sleep when idle', of('3 stages x2', 'whole x2', wall), 0.8);
  goalAtLeast(
    '3 stages / whole model with the threads of the library',
    of('3 stages x2', 'whole x2 polling', wall),
    0.5,
  );
  for (const threads of ['x1', 'x2']) {
    const more = ratios(processor(`3 stages ${threads}`), processor(`whole ${threads}`));
    spread(`processor for a token, 3 stages ${threads} / whole ${threads}`, more, '', 3);
  }
}
