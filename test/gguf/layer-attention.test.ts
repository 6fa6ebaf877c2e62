import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModelInspection } from '../../gen/stageplane/v1/model.js';
import type { WritableValue } from '../../src/gguf/encode-header.js';
import { inspectModel } from '../../src/gguf/inspect-model.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeRealModel } from './real-model.js';
import { smallArchitectures, writeArchitectureModel } from './slice/architecture-model.js';

const folder = temporaryFolder(afterAll);
type Keys = Readonly<Record<string, WritableValue>>;

const uint = (value: number): WritableValue => ({ type: 'uint32', value });
const each = (...items: number[]): WritableValue => ({ type: 'array', elements: 'uint32', items });
const flags = (...items: number[]): WritableValue => ({ type: 'array', elements: 'bool', items });

async function inspect(path: string) {
  const result = await inspectModel(path);
  if (result.kind === 'refused') throw result.error;
  return result;
}

const small = async (name: keyof typeof smallArchitectures): Promise<ModelInspection> =>
  (await inspect(await writeArchitectureModel(join(folder, `${name}.gguf`), name, smallArchitectures[name])))
    .inspection;

/** A header of four layers of width 64 with these keys of its architecture, and one tensor per layer. */
async function withKeys(architecture: string, keys: Keys, tensors: readonly string[] = []) {
  const path = join(folder, 'keys.gguf');
  const own: Keys = { block_count: uint(4), embedding_length: uint(64), context_length: uint(512), ...keys };
  await writeGguf(path, {
    metadata: [
      ['general.architecture', { type: 'string', value: architecture }],
      ...Object.entries(own).map(([key, value]): [string, WritableValue] => [`${architecture}.${key}`, value]),
    ],
    tensors: ['token_embd.weight', 'blk.0.x', 'blk.1.x', 'blk.2.x', 'blk.3.x', ...tensors].map((name) => ({
      name,
      type: 'F32',
      dims: [8],
      data: () => [new Uint8Array(32)],
    })),
  });
  return inspect(path);
}

const windowsOf = ({ attention }: ModelInspection) => attention.map(({ window }) => window);

describe('what a layer keeps of a token', () => {
  it('of Llama-3.1-8B: 8 heads of 128 for keys and as many for values, which the file need not say', async () => {
    const { inspection } = await inspect(writeRealModel('llama8b', folder)[0]!);
    const layer = { heads: 32, headsKv: 8, keyLength: 128, valueLength: 128, window: 0 };
    expect(inspection.attention).toEqual(new Array(32).fill(layer));
    expect(inspection).toMatchObject({
      feedForwardLengths: [14_336n],
      expertCount: 0,
      expertsUsed: 0,
      recurrent: false,
    });
  });

  it('of DeepSeek-R1 in an older file: whole keys and values of all 128 heads', async () => {
    const { inspection } = await inspect(writeRealModel('deepseek', folder)[0]!);
    const layer = { heads: 128, headsKv: 128, keyLength: 192, valueLength: 128, window: 0 };
    expect(inspection.attention).toEqual(new Array(61).fill(layer));
    expect(inspection).toMatchObject({ expertCount: 256, expertsUsed: 8, expertFeedForwardLength: 2048n });
    const { layers } = inspection.layers!;
    // The first three layers are dense; later ones are 256 experts of three matrices of 7168 x 2048 in Q8_0, and little else.
    expect(layers.slice(0, 3).map(({ expertBytes }) => expertBytes)).toEqual([0n, 0n, 0n]);
    expect(layers[3]!.expertBytes).toBe((3n * 256n * 7168n * 2048n * 34n) / 32n);
  });

  it('with multi-head latent attention: one row of rank and rope, which the values are part of', async () => {
    const { attention } = await small('deepseek2');
    expect(attention).toEqual(new Array(8).fill({ heads: 4, headsKv: 1, keyLength: 40, valueLength: 0, window: 0 }));
  });

  it.each(['llama', 'qwen2', 'qwen3', 'qwen3moe', 'qwen2moe', 'granite', 'glm4moe', 'smollm3'] as const)(
    'of %s: keys and values of all tokens, and no layer that only predicts',
    async (name) => {
      const { attention } = await small(name);
      const layer = { heads: 4, headsKv: 2, keyLength: 16, valueLength: 16, window: 0 };
      expect(attention).toEqual(new Array(smallArchitectures[name].layers).fill(layer));
    },
  );

  it('per layer, where layers differ: the first one says nothing of the others', async () => {
    const keys = { 'attention.head_count': each(0, 8, 4, 8), 'attention.head_count_kv': each(0, 2, 1, 4) };
    const { inspection } = await withKeys('deci', { ...keys, feed_forward_length: each(0, 96, 96, 128) });
    expect(inspection.attention.map(({ heads }) => heads)).toEqual([0, 8, 4, 8]);
    expect(inspection.attention.map(({ headsKv }) => headsKv)).toEqual([0, 2, 1, 4]);
    expect(inspection.attention.every(({ keyLength, valueLength }) => keyLength === 8 && valueLength === 8)).toBe(true);
    expect(inspection.feedForwardLengths).toEqual([0n, 96n, 96n, 128n]);
  });

  it('of as many heads for keys and values as for queries, where the file does not say', async () => {
    const { inspection } = await withKeys('llama', { 'attention.head_count': uint(4) });
    expect(inspection.attention[3]).toEqual({ heads: 4, headsKv: 4, keyLength: 16, valueLength: 16, window: 0 });
  });

  it('is unknown when the file has no heads', async () => {
    expect((await withKeys('llama', {})).inspection.attention).toEqual([]);
  });
});

describe('a window', () => {
  it('of gemma3 is in five of six layers', async () => {
    const windows = windowsOf(await small('gemma3'));
    expect(windows).toEqual(Array.from({ length: 20 }, (_, layer) => ([5, 11, 17].includes(layer) ? 0 : 24)));
  });

  it('of gpt-oss and gemma2 is in every other layer, of olmo2 in three of four', async () => {
    expect(windowsOf(await small('gpt-oss'))).toEqual([24, 0, 24, 0, 24, 0, 24, 0]);
    expect(windowsOf(await small('gemma2'))).toEqual([24, 0, 24, 0, 24, 0, 24, 0]);
    expect(windowsOf(await small('olmo2'))).toEqual([24, 24, 24, 0, 24, 24, 24, 0, 24, 24]);
  });

  const heads = { 'attention.head_count': uint(4), 'attention.sliding_window': uint(24) };

  it('is where the file says, layer by layer or by a pattern', async () => {
    const byLayer = { ...heads, 'attention.sliding_window_pattern': flags(1, 0, 0, 1) };
    expect(windowsOf((await withKeys('gemma4', byLayer)).inspection)).toEqual([24, 0, 0, 24]);
    const everywhere = { ...heads, 'attention.sliding_window_pattern': flags(1, 1, 1, 1) };
    expect(windowsOf((await withKeys('gemma4', everywhere)).inspection)).toEqual([24, 24, 24, 24]);
    const pattern = { ...heads, 'attention.sliding_window_pattern': uint(2) };
    expect(windowsOf((await withKeys('gemma3', pattern)).inspection)).toEqual([24, 0, 24, 0]);
  });

  it('has heads of its own size where the file says so', async () => {
    const keys = { ...heads, 'attention.key_length': uint(32), 'attention.key_length_swa': uint(8) };
    const { inspection } = await withKeys('gpt-oss', keys);
    expect(inspection.attention.map(({ keyLength }) => keyLength)).toEqual([8, 32, 8, 32]);
  });

  it('is not believed of an architecture that llama.cpp gives none: too much memory rather than too little', async () => {
    expect(windowsOf((await withKeys('phi3', heads)).inspection)).toEqual([0, 0, 0, 0]);
  });

  it('that makes no sense is refused by name', async () => {
    const key = 'gemma3.attention.sliding_window_pattern';
    await expect(
      withKeys('gemma3', { ...heads, 'attention.sliding_window_pattern': flags(1, 0) }),
    ).rejects.toMatchObject({ kind: 'bad-value', key });
  });
});

describe('what cannot be planned', () => {
  it.each([
    ['mamba', 'ssm.state_size'],
    ['jamba', 'ssm.conv_kernel'],
    ['rwkv7', 'wkv.head_size'],
    ['lfm2', 'shortconv.l_cache'],
  ])('%s keeps a recurrent state', async (architecture, key) => {
    const { inspection, obstacle } = await withKeys(architecture, { [key]: uint(4), 'attention.head_count': uint(4) });
    expect(inspection.recurrent).toBe(true);
    expect(obstacle).toContain(`layers of architecture ${architecture} keep a recurrent state`);
  });
});

describe('experts', () => {
  it('are counted apart from what every token reads, in files of either age', async () => {
    const names = [
      'blk.1.ffn_up_exps.weight',
      'blk.1.ffn_up_shexp.weight',
      'blk.2.ffn_gate.0.weight',
      'blk.3.ffn_up.weight',
    ];
    const { inspection } = await withKeys('qwen2moe', {}, names);
    expect(inspection.layers!.layers.map(({ expertBytes }) => expertBytes)).toEqual([0n, 32n, 32n, 0n]);
  });
});
