// The whole product: an orchestrator, three agents with their gateways, and a launcher that calls Generate.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure, goalAtLeast, heading, inTurns, median, ratios, spread } from '../figures.mjs';
import { Chain } from './chain.mjs';
import { Cluster } from './cluster.mjs';
import { wholeModel } from './whole-model.mjs';

const ROUNDS = 7;
const KILLS = 3;
/** Of one answer; fewer when a busy machine would take too long for them. */
const TOKENS = 32;
const SLICE_MILLIS = 1500;
const STORY = [{ role: 'user', content: 'Tell me a long story about the keeper of an old lighthouse.' }];

export async function product({ model, sliceFolder, rounds = ROUNDS }) {
  heading(`product: 3 agents on this machine, Generate, default settings, medians of ${rounds} rounds`);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const cluster = await Cluster.start(folder, model);
  try {
    const run = await cluster.serve();
    await speed(cluster, run, model, sliceFolder, rounds);
    await kills(cluster, run);
  } finally {
    await cluster.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function speed(cluster, run, model, sliceFolder, rounds) {
  const { threads } = run.settings[0];
  const chain = await Chain.start(model, sliceFolder, 3, { threads });
  const whole = await wholeModel(model, threads, 'polling');
  const rates = await inTurns(rounds, {
    product: async () => rateOf(await cluster.answer(run, { messages: STORY, maxTokens: TOKENS }, enough())),
    chain: async () => rateOf((await chain.answer({ messages: STORY, maxTokens: TOKENS }, enough())).at),
    whole: async () => 1000 / (await whole.burst(TOKENS, SLICE_MILLIS)).millis,
  });
  await chain.stop();
  whole.stop();
  figure(`3 stages x${threads} over Generate`, median(rates.product).toFixed(1), 'tokens/s');
  figure('the same without orchestrator and gateways', median(rates.chain).toFixed(1), 'tokens/s');
  spread('over Generate / without', ratios(rates.product, rates.chain), '');
  goalAtLeast('over Generate / whole model with the threads of the library', ratios(rates.product, rates.whole), 0.5);
}

async function kills(cluster, first) {
  const found = [];
  for (let kill = 0; kill < KILLS; kill++)
    found.push(await killed(cluster, kill === 0 ? first : await cluster.serve()));
  const [fault, freed] = ['fault', 'freed'].map((what) => found.map((times) => times[what]));
  figure(
    `kill -9 of stage 1 in an answer, ${KILLS} times: its fault is with the launcher`,
    median(fault).toFixed(0),
    'ms',
  );
  figure(
    'its run has no process, memory or socket any more',
    median(freed).toFixed(0),
    `ms, ${Math.max(...freed).toFixed(0)} at most`,
  );
}

/** Milliseconds from the end of a stage to what follows from it. */
async function killed(cluster, run) {
  const workers = cluster.processesOf(run);
  let begin = 0;
  let freed;
  await cluster.answer(run, { messages: STORY, maxTokens: 1000 }, (tokens) => {
    if (tokens !== 4) return;
    begin = performance.now();
    process.kill(workers.stages[1], 'SIGKILL');
    freed = cluster.gone(run, [...workers.stages, ...workers.endpoints]);
  });
  const fault = performance.now() - begin;
  await freed;
  const times = { fault, freed: performance.now() - begin };
  await cluster.ended(run);
  return times;
}

/** Ends an answer that takes too long. */
function enough() {
  const begin = performance.now();
  return (tokens, cancel) => {
    if (tokens > 1 && performance.now() - begin > SLICE_MILLIS) cancel();
  };
}

/** Tokens per second after the first one, of the times in milliseconds at which they came. */
function rateOf(at) {
  return ((at.length - 1) * 1000) / (at.at(-1) - at[0]);
}
