// How fast text comes out of stages: SmolLM2 with llama.cpp in real processes, as ratios of runs in turns against the
// goals of the project. Never pass or fail. The goals are for two idle cores; the load is printed beside each part.
//
//   npm run bench:tokens -- --only decode,prefill --rounds 3
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureHops } from './hops.mjs';
import { chat } from './tokens/chat.mjs';
import { conversations } from './tokens/conversations.mjs';
import { decode } from './tokens/decode.mjs';
import { load } from './tokens/load.mjs';
import { benchModel } from './tokens/model.mjs';
import { prefill } from './tokens/prefill.mjs';
import { product } from './tokens/product.mjs';

const parts = { decode, hop: measureHops, conversations, prefill, chat, load, product };

const { values } = parseArgs({
  options: { only: { type: 'string', default: Object.keys(parts).join() }, rounds: { type: 'string' } },
});
/** Each part has its own number, which takes one to three minutes. */
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
const wanted = values.only.split(',');
const unknown = wanted.find((name) => !(name in parts));
if (unknown !== undefined)
  throw new Error(`--only: there is no part "${unknown}"; write some of ${Object.keys(parts)}`);

const model = await benchModel();
const sliceFolder = mkdtempSync(join(tmpdir(), 'bench-slices-'));
try {
  const begin = performance.now();
  for (const name of wanted) await parts[name]({ model, sliceFolder, rounds });
  console.log(`\n${model.name}: all in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
} finally {
  rmSync(sliceFolder, { recursive: true, force: true });
}
process.exit();
