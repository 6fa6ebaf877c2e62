// Measuring in turns, medians with the room that noise leaves them, and lines that say whether a goal is met.
import { loadavg } from 'node:os';
import { foreignCores } from './processor-time.mjs';

/** Share of a core that other programs may take in a round which counts as quiet: the kernel's count is no finer. */
const QUIET_CORES = 0.1;

/**
 * Runs every subject's `once` in turns, forwards and backwards, so that whatever else the machine has to do meets all of
 * them alike; the first rounds only warm up. Gives what each `once` gave, by subject, and as `quiet` which rounds nobody
 * else has disturbed.
 *
 * @param {number} rounds
 * @param {Record<string, (round: number) => any>} subjects
 * @returns {Promise<Record<string, any[]>>}
 */
export async function inTurns(rounds, subjects, warmUps = 1) {
  const turns = Object.entries(subjects);
  const results = Object.fromEntries(turns.map(([name]) => [name, []]));
  const foreign = [];
  for (let round = 0; round < warmUps + rounds; round++) {
    const watch = foreignCores();
    for (const [name, once] of round % 2 === 0 ? turns : turns.toReversed()) {
      const result = await once(round);
      if (round >= warmUps) results[name].push(result);
    }
    if (round >= warmUps) foreign.push(watch());
  }
  const quiet = foreign.map((cores) => cores <= QUIET_CORES);
  const loud = quiet.filter((isQuiet) => !isQuiet).length;
  const most = Math.max(...foreign).toFixed(2);
  figure(`of ${rounds} rounds, others took over ${QUIET_CORES} cores in`, String(loud), `(${most} at most)`);
  return { ...results, quiet };
}

/** @param {number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * The value that `share` of the values do not exceed.
 *
 * @param {number[]} values
 */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/**
 * Between which values the true median lies with 95 %, whatever the noise looks like: the order statistics whose ranks are
 * 0.98 roots of n away from the middle, as the binomial distribution has it.
 *
 * @param {number[]} values
 */
export function medianRange(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)));
  return { low: sorted[rank], high: sorted[sorted.length - 1 - rank] };
}

/**
 * The quotients of each round: what slowed a whole round down slowed both of its runs.
 *
 * @param {number[]} over
 * @param {number[]} under
 */
export function ratios(over, under) {
  return over.map((value, round) => value / under[round]);
}

export function heading(text) {
  console.log(`\n${text} (load ${loadavg()[0].toFixed(1)})`);
}

/** @param {string} value */
export function figure(name, value, unit) {
  console.log(`  ${name.padEnd(64)} ${value.padStart(8)} ${unit}`);
}

/** The median of values, and the range that noise leaves it. */
export function spread(name, values, unit, digits = 2) {
  figure(name, median(values).toFixed(digits), `${unit} ${rangeText(values, digits)}`);
}

/** Judges the median of values; one value has no range. */
export function goalAtLeast(name, values, goal, digits = 2) {
  judge(name, values, `>= ${goal.toFixed(digits)}`, (value) => rounded(value, digits) >= goal, digits);
}

export function goalAtMost(name, values, goal, digits = 2) {
  judge(name, values, `<= ${goal.toFixed(digits)}`, (value) => rounded(value, digits) <= goal, digits);
}

function judge(name, values, goal, meets, digits) {
  const { low, high } = medianRange(values);
  const isMet = meets(median(values));
  // A range with both kinds in it decides nothing.
  const isOpen = meets(low) !== meets(high);
  const verdict = `${isMet ? 'met' : 'NOT MET'}${isOpen ? ', within the noise' : ''}`;
  spread(name, values, `goal ${goal}: ${verdict}`, digits);
}

function rangeText(values, digits) {
  if (values.length === 1) return '';
  const { low, high } = medianRange(values);
  return `[${low.toFixed(digits)} to ${high.toFixed(digits)}]`;
}

/** What is printed is what is judged. */
function rounded(value, digits) {
  return Number(value.toFixed(digits));
}
