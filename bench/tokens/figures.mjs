// Medians of runs in turns, and lines that say whether a goal is met.
import { loadavg } from 'node:os';

/** Runs every subject's `once` in turns, so that whatever else the machine has to do meets all of them alike; the first rounds only warm up. Gives what each `once` gave, by subject. */
export async function inTurns(rounds, subjects, warmUps = 1) {
  const results = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < warmUps + rounds; round++) {
    for (const [name, once] of Object.entries(subjects)) {
      const result = await once(round);
      if (round >= warmUps) results[name].push(result);
    }
  }
  return results;
}

export function median(values) {
  return quantile(values, 0.5);
}

/** The value that `share` of the values do not exceed. */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/** The median of the quotients of each round: what slowed a whole round down slowed both of its runs. */
export function medianRatio(over, under) {
  return median(over.map((value, round) => value / under[round]));
}

export function heading(text) {
  console.log(`\n${text} (load ${loadavg()[0].toFixed(1)})`);
}

export function figure(name, value, unit) {
  console.log(`  ${name.padEnd(64)} ${value.padStart(8)} ${unit}`);
}

export function goalAtLeast(name, value, goal, digits = 2) {
  judge(name, value, `>= ${goal.toFixed(digits)}`, rounded(value, digits) >= goal, digits);
}

export function goalAtMost(name, value, goal, digits = 2) {
  judge(name, value, `<= ${goal.toFixed(digits)}`, rounded(value, digits) <= goal, digits);
}

function judge(name, value, goal, isMet, digits) {
  console.log(`  ${name.padEnd(64)} ${value.toFixed(digits).padStart(8)} goal ${goal}: ${isMet ? 'met' : 'NOT MET'}`);
}

/** What is printed is what is judged. */
function rounded(value, digits) {
  return Number(value.toFixed(digits));
}
