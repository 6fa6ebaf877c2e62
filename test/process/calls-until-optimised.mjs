// Prints how often a function is called until V8 has optimised it: `early`, or as usual.
// Built code, since this is a process of its own: `npm test` builds first.
import { optimiseEarly } from '../../dist/src/process/optimise-early.js';

/** Of `%GetOptimizationStatus`: the function runs optimised code. */
const OPTIMISED = 1 << 4;
const MOST_CALLS = 1_000_000;

const sum = new Function('numbers', 'let all = 0; for (const number of numbers) all += number; return all;');
const statusOf = new Function('sum', 'return %GetOptimizationStatus(sum);');
const numbers = [1, 2, 3, 4];

sum(numbers);
if (process.argv[2] === 'early') optimiseEarly();
let calls = 1;
while ((statusOf(sum) & OPTIMISED) === 0 && calls < MOST_CALLS) {
  sum(numbers);
  calls++;
}
console.log(calls);
