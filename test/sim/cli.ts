import { Simulation } from './simulation.js';

const seed = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 1);
const began = performance.now();
let steps = 0;
let failed = 0;
for (let at = seed; at < seed + count; at++) {
  const result = new Simulation({ seed: at, transcript: count === 1 }).run();
  steps += result.steps;
  if (count === 1) console.log(result.transcript.join('\n'));
  if (result.violation) {
    failed += 1;
    console.log(at, result.violation);
    if (failed > 5) break;
  }
}
console.log({ steps, millisPerRun: (performance.now() - began) / count, failed });
