// What a hop between two stages costs, without any layers: one object in flight, through chains of processes in turns.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { echoChain, echoModes } from './echo-chain.mjs';
import { goalAtMost, heading, inTurns, ratios, spread } from './figures.mjs';

const ROUNDS = 100;
/** Times that an object goes round in a turn, after some that only wake the processes up. */
const TIMES = 100;
const WAKING = 20;
const GOAL_MICROS = 80;

/** @param {{ bytes?: number, rounds?: number }} options `bytes` are those of one object; default one token of hidden 8192 in f32 */
export async function measureHops({ bytes = 32 * 1024, rounds = ROUNDS }) {
  heading(`hop: an object of ${bytes} bytes, ${TIMES} times round in turns, medians of ${rounds} rounds [95 % sure]`);
  const folder = mkdtempSync(join(tmpdir(), 'edge-hop-'));
  const chains = {};
  try {
    for (const mode of echoModes) {
      for (const processes of [2, 4]) {
        chains[`${mode}, ${processes} processes`] = await echoChain(folder, mode, processes - 1, bytes);
      }
    }
    const turns = Object.entries(chains).map(([name, chain]) => [name, () => microsPerHop(chain)]);
    const { quiet: _, ...micros } = await inTurns(rounds, Object.fromEntries(turns));
    report(micros);
  } finally {
    for (const chain of Object.values(chains)) chain.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(micros) {
  for (const [name, values] of Object.entries(micros)) spread(name, values, 'µs a hop', 0);
  for (const processes of ['2 processes', '4 processes']) {
    const [bare, edges] = [micros[`bare, ${processes}`], micros[`edges, ${processes}`]];
    spread(`our transport / node:net, ${processes}`, ratios(edges, bare), '');
    goalAtMost(`our transport alone, ${processes}, µs a hop`, edges, GOAL_MICROS, 0);
  }
}

async function microsPerHop({ once, hops }) {
  for (let time = 0; time < WAKING; time++) await once();
  const begin = performance.now();
  for (let time = 0; time < TIMES; time++) await once();
  return ((performance.now() - begin) * 1000) / TIMES / hops;
}
