import { parseArgs } from 'node:util';
import { failureText } from './failure-text.js';
import { runSeeds, type SeedsResult } from './run-seeds.js';
import { Simulation } from './simulation.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    first: { type: 'string', default: '1' },
    runs: { type: 'string' },
    minutes: { type: 'string' },
  },
});

if (values.seed !== undefined) replay(Number(values.seed));
else await search();

/** One seed, told from its beginning; then, when it fails, the least that makes it fail. */
function replay(seed: number): void {
  const result = new Simulation({ seed, transcript: true }).run();
  for (const line of result.transcript) console.log(line);
  if (result.violation) {
    console.log(`\n${failureText(seed, result)}`);
    process.exitCode = 1;
  } else console.log(`seed ${seed} keeps every invariant in ${result.steps} steps`);
}

async function search(): Promise<void> {
  const began = performance.now();
  const until = values.minutes === undefined ? Number.POSITIVE_INFINITY : began + Number(values.minutes) * 60_000;
  const count = values.runs === undefined ? Number.POSITIVE_INFINITY : Number(values.runs);
  let isInterrupted = false;
  process.once('SIGINT', () => {
    isInterrupted = true;
  });
  let told = began;
  const tell = ({ runs, steps }: SeedsResult) => {
    const seconds = (performance.now() - began) / 1000;
    console.log(`${runs} runs, ${steps} steps in ${seconds.toFixed(1)} s, ${(runs / seconds).toFixed(1)} runs/s`);
  };
  const goesOn = (soFar: SeedsResult) => {
    const now = performance.now();
    if (now - told > 10_000) {
      told = now;
      tell(soFar);
    }
    return now < until && !isInterrupted;
  };
  const first = Number(values.first);
  const result = await runSeeds({
    first,
    count: values.runs === undefined && values.minutes === undefined ? 2000 : count,
    goesOn,
  });
  tell(result);
  for (const [name, times] of [...result.counters.counts].sort((a, b) => a[1] - b[1])) console.log(`${times}  ${name}`);
  for (const name of result.counters.missing) console.log(`never: ${name}`);
  if (!result.failed) return;
  console.log(failureText(result.failed.seed, result.failed.result));
  process.exitCode = 1;
}
