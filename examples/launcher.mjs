// @ts-check
// A launcher: plans a model onto the pool, runs it there, asks it once, and stops it.
//   node launcher.mjs model.gguf "Once upon a time" localhost:7070
import { randomUUID } from 'node:crypto';
import { Launcher, RunPhase } from 'stageplane';

const [model = 'model.gguf', prompt = 'Once upon a time', address = 'localhost:7070'] = process.argv.slice(2);
const launcher = new Launcher(address);
const { outcome } = await launcher.createRun({
  requestId: randomUUID(),
  plan: { model: { source: { $case: 'localPath', value: model } }, placement: { $case: 'automatic', value: {} } },
});
if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);

const { runId, phase, cause } = await launcher.untilRunning(outcome.value.runId);
if (phase !== RunPhase.RUN_PHASE_RUNNING) throw new Error(cause?.message);

const runtime = { prompt: { source: { $case: /** @type {const} */ ('inline'), value: prompt } }, maxTokens: 32 };
for await (const { text } of launcher.generate({ runId, runtime })) process.stdout.write(text);
await launcher.stopRun(runId);
launcher.close();
