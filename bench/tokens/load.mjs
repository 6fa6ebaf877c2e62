// What a stage reads to be loaded. Counted are the bytes of its read calls (`rchar` of /proc/<pid>/io), from its hello to
// its ready, and the bytes of its slice, which llama.cpp maps and so reads once without any call. Taken off is the program,
// which is what it reads for a model of nearly nothing.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openModel } from '../../dist/src/gguf/open-model.js';
import { writeTinyModel } from '../../dist/src/gguf/tiny-model.js';
import { figure, goalAtMost, heading } from '../figures.mjs';
import { idleWorker } from './chain.mjs';
import { inspectionOf, planOf } from './model.mjs';

const STAGES = 3;

export async function load({ model }) {
  heading(`load: bytes read by each of ${STAGES} stages as a multiple of its own tensors, the worst of them`);
  const folder = mkdtempSync(join(tmpdir(), 'bench-load-'));
  try {
    const [path] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: STAGES, hidden: 32 });
    const tiny = { path, inspection: await inspectionOf(path) };
    const [program] = await readsOf(tiny, join(folder, 'tiny-slices'));
    const worst = (reads) =>
      Math.max(...reads.map(({ called, mapped, own }) => (called - program.called + mapped) / own));
    const strangers = [];
    for (let stage = 0; stage < STAGES; stage++)
      strangers.push(...(await readsOf(model, join(folder, `node-${stage}`), [stage])));
    const slices = join(folder, 'slices');
    await readsOf(model, slices);
    for (const name of readdirSync(slices).filter((file) => file.endsWith('.gguf'))) rmSync(join(slices, name));
    const written = await readsOf(model, slices);
    const reused = await readsOf(model, slices);
    figure('the header of the model', ((await headerBytes(model.path)) / 1e6).toFixed(1), 'MB');
    figure('on a node that never had the model: its header is read as well', worst(strangers).toFixed(2), '');
    goalAtMost('when its slice is written', [worst(written)], 2);
    goalAtMost('when its slice is there', [worst(reused)], 1.02);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bytes that stages read by calls and by mapping, and those of their tensors. */
async function readsOf(model, sliceFolder, wanted = Array.from({ length: STAGES }, (_, stage) => stage)) {
  const { stages } = planOf(model, STAGES);
  const reads = [];
  for (const stage of wanted.map((index) => stages[index])) {
    const { worker, prepare } = await idleWorker(sliceFolder);
    const before = readBytes(worker.pid);
    await prepare({ ...stage, modelPath: model.path });
    const called = readBytes(worker.pid) - before;
    const mapped = heldBytes(sliceFolder, worker.pid);
    worker.kill();
    await worker.reaped;
    reads.push({ called, mapped, own: Number(stage.settings.expectedBytes) });
  }
  return reads;
}

function readBytes(pid) {
  return Number(readFileSync(`/proc/${pid}/io`, 'utf8').match(/rchar: (\d+)/)[1]);
}

/** Bytes of the slice that a process holds. */
function heldBytes(sliceFolder, pid) {
  const folder = join(sliceFolder, 'in-use');
  const name = readdirSync(folder).find((file) => file.startsWith(`${pid}-`));
  return statSync(join(folder, name)).size;
}

async function headerBytes(path) {
  const opened = await openModel(path);
  if (opened.kind === 'refused') throw opened.error;
  const { model } = opened;
  return Math.min(...model.tensors.map(({ offset }) => offset));
}
