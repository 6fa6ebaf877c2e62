import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LoadProgress_Phase, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { encodePreamble } from '../../../src/worker/edge/edge-preamble.js';
import { objectFlags } from '../../../src/worker/edge/object-record.js';
import { loadFixtureLayers } from '../../../src/worker/engine/fixture/load-fixture-layers.js';
import { SessionEngine } from '../../../src/worker/engine/session-engine.js';
import { generate, pipelineOf } from '../engine/pipeline.js';
import { WorkerProcess, workerMain } from '../worker-process.js';
import { type ChainModel, contractOf, MICRO_BATCH, StageChain, socketOf, stageCommand } from './stage-chain.js';
import { TokenEndpoint, tokenBytes } from './token-endpoint.js';

let folder: string;
let model: ChainModel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-chain-model-'));
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
  model = { modelPath, totalLayers: 4, hiddenDim: 32 };
});
afterAll(() => rm(folder, { recursive: true }));

/** Lengths around the micro-batch of 8, one of them a single token. */
const prompts = [1, 8, 9, 30].map((length, which) =>
  Array.from({ length }, (_, index) => (index * 37 + which * 11 + 5) % 256),
);
const COUNT = 12;

/** What the whole model says to a prompt, without any edge. */
async function expected(prompt: readonly number[], count: number): Promise<number[]> {
  const [engine] = await pipelineOf(
    () => new SessionEngine(loadFixtureLayers),
    { path: model.modelPath, layers: model.totalLayers },
    [],
    { contextLength: 128, microBatch: MICRO_BATCH },
  );
  return generate([engine!], prompt, count);
}

test.each([[[]], [[2]], [[1, 3]]])(
  'cut at %j, four interleaved sessions say what the whole model says',
  async (cuts) => {
    const chain = await StageChain.start(model, cuts);
    const { endpoint } = chain;
    const generated = prompts.map(async (prompt, index) => {
      const session = BigInt(index + 1);
      await endpoint.prompt(session, prompt, MICRO_BATCH);
      const tokens = await endpoint.follow(session, COUNT);
      await endpoint.release(session);
      return tokens;
    });
    const wanted = prompts.map((prompt) => expected(prompt, COUNT));
    expect(await Promise.all(generated)).toEqual(await Promise.all(wanted));
    // Four sessions are all that a stage has: a fifth finds room only if the others were released everywhere.
    await endpoint.prompt(5n, prompts[3]!, MICRO_BATCH);
    expect(await endpoint.follow(5n, 3)).toEqual(await expected(prompts[3]!, 3));
    await chain.stop();
  },
);

describe('three stages', () => {
  let chain: StageChain;
  beforeAll(async () => {
    chain = await StageChain.start(model, [1, 3]);
  });
  afterAll(() => chain.stop());

  test('say that they are loaded and wait, and then that they are ready', () => {
    for (const worker of chain.workers) {
      const phases = worker.events.flatMap((event) => (event.$case === 'loading' ? [event.value.phase] : []));
      expect(phases.at(-1)).toBe(LoadProgress_Phase.PHASE_WAITING_EDGES);
      expect(worker.kinds().at(-1)).toBe('ready');
    }
  });

  test('a cancelled session is confirmed, goes back where it was, and disturbs nobody', async () => {
    const { endpoint } = chain;
    const [, , short, long] = prompts;
    await endpoint.prompt(1n, short!, MICRO_BATCH);
    const first = await endpoint.follow(1n, 4);
    const other = (async () => {
      await endpoint.prompt(2n, long!, MICRO_BATCH);
      return endpoint.follow(2n, COUNT);
    })();
    // One more turn of the conversation, stopped before its answer: nobody knows how far it came.
    await endpoint.prompt(1n, long!, MICRO_BATCH);
    expect((await endpoint.cancel(1n)).length).toBeLessThanOrEqual(1);
    const position = short!.length + 3;
    expect(await endpoint.truncate(1n, position)).toBe(position);
    await endpoint.send(1n, 0, tokenBytes(first.slice(-1)));
    const rest = await endpoint.follow(1n, COUNT - 4);
    expect([...first, ...rest]).toEqual(await expected(short!, COUNT));
    expect(await other).toEqual(await expected(long!, COUNT));
    await endpoint.release(1n);
    await endpoint.release(2n);
  });

  test('a session goes back to an earlier position and says the same again', async () => {
    const { endpoint } = chain;
    const prompt = prompts[3]!;
    await endpoint.prompt(3n, prompt, MICRO_BATCH);
    const tokens = await endpoint.follow(3n, 6);
    // Not waited for: what follows is behind it on every edge.
    await endpoint.send(3n, objectFlags.TRUNCATE, tokenBytes([prompt.length]));
    await endpoint.send(3n, 0, tokenBytes([tokens[0]!]));
    expect((await endpoint.next(3n)).flags).toBe(objectFlags.TRUNCATE);
    expect(await endpoint.follow(3n, 5)).toEqual(tokens.slice(1));
    await endpoint.release(3n);
  });

  test('going back to more than is held gives the position that is', async () => {
    const { endpoint } = chain;
    await endpoint.prompt(4n, prompts[2]!, MICRO_BATCH);
    await endpoint.follow(4n, 1);
    expect(await endpoint.truncate(4n, 100)).toBe(9);
    expect(await endpoint.truncate(4n, 9)).toBe(9);
    expect(await endpoint.truncate(4n, 0)).toBe(0);
    await endpoint.prompt(4n, prompts[1]!, MICRO_BATCH);
    expect(await endpoint.follow(4n, 3)).toEqual(await expected(prompts[1]!, 3));
    await endpoint.release(4n);
  });

  test('a token that is the last brings the release with it', async () => {
    const { endpoint } = chain;
    await endpoint.prompt(6n, prompts[1]!, MICRO_BATCH);
    const [token] = await endpoint.follow(6n, 1);
    await endpoint.send(6n, objectFlags.RELEASE, tokenBytes([token!]));
    const last = await endpoint.next(6n);
    expect(last.flags).toBe(objectFlags.RELEASE);
    expect(Buffer.from(last.payload).readUInt32LE()).toBe((await expected(prompts[1]!, 2))[1]);
  });
});

test('a worker refuses whoever is not its producer, says so in its log, and still becomes ready', async () => {
  const own = await mkdtemp(join(tmpdir(), 'stageplane-chain-'));
  const worker = new WorkerProcess(workerMain);
  worker.send({
    $case: 'prepare',
    value: stageCommand(model, { folder: own, index: 0, stageCount: 1, layers: [0, 4] }),
  });
  await worker.heard('loading', ({ phase }) => phase === LoadProgress_Phase.PHASE_WAITING_EDGES);
  const [tokenIn, tokenOut] = [0, 1].map((edge) => ({
    socket: socketOf(own, edge),
    contract: contractOf(edge, 1, model.hiddenDim),
  }));
  const foreign = connect(tokenIn!.socket);
  foreign.write(encodePreamble({ ...tokenIn!.contract, generation: 2 }));
  foreign.resume();
  await new Promise((resolve) => foreign.on('close', resolve));
  expect(worker.kinds()).not.toContain('ready');
  const endpoint = await TokenEndpoint.open(tokenIn!, tokenOut!);
  await worker.heard('ready');
  worker.send({ $case: 'stop', value: { reason: 'enough' } });
  expect(await worker.ended).toEqual({ code: 0, signal: null });
  await expect(stat(tokenIn!.socket)).rejects.toThrow('ENOENT');
  expect(worker.log.join()).toContain('generation 2, this end was provisioned for 1');
  endpoint.close();
  await rm(own, { recursive: true });
});

test('when a worker is killed, both neighbours say EDGE_CLOSED', async () => {
  const chain = await StageChain.start(model, [1, 3]);
  const [before, killed, after] = chain.workers;
  killed!.child.kill('SIGKILL');
  const reason = StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED;
  expect(await before!.heard('fault')).toMatchObject({ reason, message: expect.stringContaining('edge 2 of run 7') });
  expect(await after!.heard('fault')).toMatchObject({ reason, message: expect.stringContaining('edge 3 of run 7') });
  await chain.stop();
});

test.each<[string, number, Buffer, string]>([
  ['rows after a CANCEL', objectFlags.CANCEL, tokenBytes([1]), 'no TRUNCATE came between'],
  ['a token outside the vocabulary', 0, tokenBytes([0xffff_ffff]), 'outside the vocabulary'],
  ['more than a micro-batch', 0, tokenBytes(prompts[3]!), 'pieces of at most one micro-batch'],
])('%s is EDGE_PROTOCOL', async (_, before, payload, sentence) => {
  const chain = await StageChain.start(model, []);
  if (before !== 0) await chain.endpoint.send(1n, before);
  await chain.endpoint.send(1n, 0, payload);
  const fault = await chain.workers[0]!.heard('fault');
  expect(fault.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL);
  expect(fault.message).toContain(sentence);
  await chain.stop();
});
