// The model in one process, as any program runs it with llama.cpp: its own file, token ids in, the likeliest token out.
// Shares with the stages only the functions of the library.
//
//   fork(whole-model.mjs, [path, threads, 'polling' or 'sleeping']); it answers { tokens, mostMillis } with a burst
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openLlamaLibrary } from '../../dist/src/worker/engine/llama/llama-library.js';
import { loadModel } from '../../dist/src/worker/engine/llama/load-model.js';
import { pickToken } from '../../dist/src/worker/engine/llama/pick-token.js';
import { sleepingThreadPool } from '../../dist/src/worker/engine/llama/thread-pool.js';
import { GREEDY } from '../../dist/src/worker/engine/sampling.js';
import { WARMING_TOKENS } from './model.mjs';

const program = fileURLToPath(import.meta.url);
/** As many as the prompt of the stages has. */
const PROMPT_TOKENS = 4;

/** A process with the whole model. Threads that poll are the library's own, right for a program alone on its machine. */
export async function wholeModel({ path }, threads, waiting) {
  const child = fork(program, [path, String(threads), waiting]);
  let fail = (_) => {};
  child.once('exit', (code) => fail(new Error(`the process with the whole model ended with ${code}`)));
  const answered = () =>
    new Promise((resolve, reject) => {
      fail = reject;
      child.once('message', resolve);
    });
  await answered();
  return {
    /** Decodes `tokens` tokens after some that warm up, or as many as come in time; gives what one took, and took of the processors. */
    burst: (tokens, mostMillis = Number.MAX_VALUE) => {
      child.send({ tokens, mostMillis });
      return answered();
    },
    stop: () => child.kill('SIGKILL'),
  };
}

if (process.argv[1] === program) await serve(process.argv[2], Number(process.argv[3]), process.argv[4]);

async function serve(path, threads, waiting) {
  const library = await openLlamaLibrary();
  if (library.kind === 'refused') throw new Error(library.message);
  const { koffi, api } = library;
  const loaded = loadModel(library, path);
  if (loaded.kind !== 'loaded') throw new Error(`${path} does not load`);
  const { model } = loaded;
  const context = api.openContext(model, {
    ...api.defaultContextParams(),
    n_ctx: 2048,
    n_threads: threads,
    n_threads_batch: threads,
    // As the stages have it.
    flash_attn_type: 0,
  });
  if (waiting === 'sleeping') {
    const { pointer } = sleepingThreadPool(library, threads);
    api.attachThreadPool(context, pointer, pointer);
  }
  const vocabulary = api.vocabularySize(api.vocabulary(model));
  const batch = api.makeBatch(PROMPT_TOKENS, 0, 1);
  const lists = koffi.decode(batch.seq_id, 'void*', PROMPT_TOKENS);
  const write = (pointer, type, values) => koffi.encode(pointer, koffi.array(type, values.length), values);

  function run(ids, position) {
    write(batch.token, 'int32', ids);
    write(
      batch.pos,
      'int32',
      ids.map((_, row) => position + row),
    );
    write(
      batch.n_seq_id,
      'int32',
      ids.map(() => 1),
    );
    for (const row of ids.keys()) write(lists[row], 'int32', [0]);
    write(
      batch.logits,
      'int8',
      ids.map((_, row) => Number(row === ids.length - 1)),
    );
    if (api.decode(context, { ...batch, n_tokens: ids.length }) !== 0) throw new Error('the whole model failed');
    return pickToken(new Float32Array(koffi.view(api.logits(context, -1), vocabulary * 4)), position, GREEDY);
  }

  process.on('message', ({ tokens, mostMillis }) => {
    api.dropPositions(api.memory(context), 0, 0, -1);
    let token = run(
      Array.from({ length: PROMPT_TOKENS }, (_, row) => 1000 + row),
      0,
    );
    let position = PROMPT_TOKENS;
    for (let count = 0; count < WARMING_TOKENS; count++) token = run([token], position++);
    const begin = performance.now();
    const before = process.cpuUsage();
    let elapsed = 0;
    let count = 0;
    for (; count < tokens && elapsed < mostMillis; elapsed = performance.now() - begin) {
      token = run([token], position++);
      count++;
    }
    const { user, system } = process.cpuUsage(before);
    process.send({ millis: elapsed / count, processorMillis: (user + system) / 1000 / count });
  });
  process.send({});
}
