import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { DtypeFamily, type LayerTable, ModelInspection } from '../../gen/stageplane/v1/model.js';
import { limits } from '../../src/core/limits.js';
import type { WritableValue } from '../../src/gguf/encode-header.js';
import { type Inspected, type InspectOptions, inspectModel, NO_TOKEN } from '../../src/gguf/inspect-model.js';
import { planningObstacle } from '../../src/gguf/planning-obstacle.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { readRealHeader, writeRealModel } from './real-model.js';
import { headerOf } from './second-opinion.js';

const folder = temporaryFolder(afterAll);
const realFile = (name: string) => fileURLToPath(new URL(`files/${name}`, import.meta.url));

async function inspected(path: string, options?: InspectOptions): Promise<Inspected> {
  const result = await inspectModel(path, options);
  if (result.kind === 'refused') throw result.error;
  return result;
}

/** Inspects a file with these keys beside the least that a model needs, and one small tensor per name. */
async function inspectKeys(metadata: Record<string, WritableValue>, names: string[] = []): Promise<Inspected> {
  const path = join(folder, 'keys.gguf');
  const least = {
    'general.architecture': text('llama'),
    'llama.block_count': uint32(3),
    'llama.embedding_length': uint32(8),
  };
  await writeGguf(path, {
    metadata: Object.entries({ ...least, ...metadata }),
    tensors: names.map((name) => ({ name, type: 'F32', dims: [8], data: () => [new Uint8Array(32)] })),
  });
  return inspected(path);
}

const text = (value: string): WritableValue => ({ type: 'string', value });
const uint32 = (value: number): WritableValue => ({ type: 'uint32', value });

function sumOfGroups(table: LayerTable): bigint {
  const layers = table.layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  return layers + table.embeddingBytes + table.headBytes + table.globalBytes + table.nextTokenPredictionBytes;
}

describe('Llama-3.1-8B Q8_0', () => {
  const [path] = writeRealModel('llama8b', folder);

  it('has the known numbers', async () => {
    const real = readRealHeader('llama8b');
    const { inspection, obstacle } = await inspected(path!, { includeTensors: true });
    expect(obstacle).toBeUndefined();
    expect(inspection.facts).toEqual({
      modelId: 'Meta Llama 3.1 8B Instruct',
      ggufSource: { source: { $case: 'localPath', value: path } },
      numLayers: 32,
      hiddenDim: 4096n,
      dtypeFamily: DtypeFamily.DTYPE_FAMILY_FLOAT,
      dtypeWidthBytes: 4n,
      maxSeqLen: 131_072n,
      eosTokenId: 128_009,
      tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
    });
    expect(inspection).toMatchObject({
      architecture: 'llama',
      ggufVersion: 3,
      contextLength: 131_072n,
      headCounts: [32n],
      headCountsKv: [8n],
      vocabularySize: 128_256n,
      fileBytes: 8_540_775_840n,
      shardCount: 1,
    });
    expect(inspection.tensors).toHaveLength(292);
    expect(inspection.tensors[1]).toEqual({
      name: 'token_embd.weight',
      type: 'Q8_0',
      dims: [4096n, 128_256n],
      sizeBytes: 558_170_112n,
    });
    const table = inspection.layers!;
    expect(table.layers).toHaveLength(32);
    expect(table.layers[31]).toMatchObject({ index: 31, tensorCount: 9, tensorTypes: ['Q8_0', 'F32'] });
    expect(table).toMatchObject({ embeddingBytes: 558_170_112n, tied: false, globalBytes: 256n });
    expect(table.headBytes).toBe(558_170_112n + 4096n * 4n);
    expect(table.totalBytes).toBe(BigInt(real.modelSize));
    expect(sumOfGroups(table)).toBe(table.totalBytes);
  });

  it('the header that the test makes is as long as the real one', async () => {
    const { tensors } = await headerOf(path!);
    const real = readRealHeader('llama8b');
    expect(tensors.map(({ offset }) => offset - real.splitTensorDataStartOffsets[0]!)).toEqual(
      real.tensorInfos.map(({ offset }) => offset),
    );
  });
});

describe('DeepSeek-R1 Q8_0 in 15 shards', () => {
  it('has the known numbers', async () => {
    const paths = writeRealModel('deepseek', folder);
    const real = readRealHeader('deepseek');
    expect(paths).toHaveLength(15);
    const { inspection, obstacle } = await inspected(paths[0]!, { includeTensors: true });
    expect(obstacle).toBeUndefined();
    expect(inspection.facts).toMatchObject({
      modelId: 'DeepSeek R1 BF16',
      numLayers: 61,
      hiddenDim: 7168n,
      eosTokenId: 1,
    });
    expect(inspection).toMatchObject({
      architecture: 'deepseek2',
      headCounts: [128n],
      headCountsKv: [128n],
      vocabularySize: 129_280n,
      fileBytes: 713_286_514_368n,
      shardCount: 15,
    });
    expect(inspection.tensors).toHaveLength(1025);
    const table = inspection.layers!;
    expect(table.layers).toHaveLength(61);
    expect(table.layers.every(({ tensorCount }) => tensorCount > 0)).toBe(true);
    // This file leaves out the model's prediction layer, blk.61.
    expect(table.nextTokenPredictionBytes).toBe(0n);
    expect(table.totalBytes).toBe(BigInt(real.modelSize));
    expect(sumOfGroups(table)).toBe(table.totalBytes);
  });
});

describe('a vocabulary without tensors', () => {
  it.each([
    ['vocab-llama-63bfaf67.gguf', 1, 'llama', 32, 32_000n, 2],
    ['vocab-llama-spm-658295a5.gguf', 3, 'llama', 32, 32_000n, 2],
    ['vocab-phi-3-745be416.gguf', 3, 'phi3', 32, 32_064n, 32_000],
    ['vocab-bert-bge-b2cbd5df.gguf', 3, 'bert', 12, 30_522n, NO_TOKEN],
  ])('%s is inspected, but has an obstacle', async (name, version, architecture, layers, vocabulary, eos) => {
    const { inspection, obstacle } = await inspected(realFile(name));
    expect(inspection).toMatchObject({ ggufVersion: version, architecture, vocabularySize: vocabulary });
    expect(inspection.facts).toMatchObject({ numLayers: layers, eosTokenId: eos });
    expect(inspection.layers).toMatchObject({ layers: [], totalBytes: 0n, tied: false });
    expect(obstacle).toBe(planningObstacle(inspection));
    expect(obstacle).toContain(
      architecture === 'bert' ? 'architecture bert has no causal attention' : "no layers' tensors",
    );
  });

  it('of version 1 is named after its file', async () => {
    const { inspection } = await inspected(realFile('vocab-llama-63bfaf67.gguf'));
    expect(inspection.facts!.modelId).toBe('vocab-llama-63bfaf67');
  });
});

describe('files that are refused say why', () => {
  it.each([
    ['example.gguf', 'not-gguf', '"FUGG"'],
    ['test_writer.gguf', 'unknown-value-type', '"dict1"'],
    ['NEG-lfs-pointer-aquila.gguf', 'lfs-pointer', 'git lfs pull'],
    ['README.md', 'not-gguf', 'text file'],
    ['missing.gguf', 'missing-file', 'check the path'],
  ])('%s', async (name, kind, sentence) => {
    const result = await inspectModel(realFile(name));
    expect(result).toMatchObject({ kind: 'refused', error: { kind } });
    expect(result.kind === 'refused' && result.error.message).toContain(sentence);
  });
});

describe('facts', () => {
  it('come whole through the wire format', async () => {
    const [path] = await writeTinyModel(join(folder, 'tiny.gguf'));
    const { inspection } = await inspected(path, { includeTensors: true });
    expect(ModelInspection.decode(ModelInspection.encode(inspection).finish())).toEqual(inspection);
  });

  it('tensors are listed only when asked for', async () => {
    const [path] = await writeTinyModel(join(folder, 'tiny.gguf'));
    expect((await inspected(path)).inspection.tensors).toEqual([]);
  });

  it('heads per layer: one entry when all agree, all entries when they differ, without prediction layers', async () => {
    const perLayer = (...items: number[]): WritableValue => ({ type: 'array', elements: 'int32', items });
    const { inspection } = await inspectKeys({
      'llama.nextn_predict_layers': uint32(1),
      'llama.attention.head_count': perLayer(4, 4, 8),
      'llama.attention.head_count_kv': perLayer(0, 2, 2),
    });
    expect(inspection.facts!.numLayers).toBe(2);
    expect(inspection.headCounts).toEqual([4n]);
    expect(inspection.headCountsKv).toEqual([0n, 2n]);
  });

  it.each<[string, WritableValue]>([
    ['llama.attention.head_count', { type: 'array', elements: 'uint32', items: [4, 4] }],
    ['llama.attention.head_count', { type: 'array', elements: 'int32', items: [4, -4, 4] }],
    ['llama.attention.head_count', { type: 'array', elements: 'string', items: ['4', '4', '4'] }],
    ['llama.embedding_length', uint32(0)],
    ['llama.context_length', { type: 'uint64', value: 2n ** 32n }],
    ['tokenizer.ggml.eos_token_id', { type: 'int32', value: -2 }],
    ['general.name', uint32(1)],
  ])('a value of %s that makes no sense is refused by name', async (key, value) => {
    await expect(inspectKeys({ [key]: value })).rejects.toMatchObject({ kind: 'bad-value', key });
  });

  it("the end token is the file's, or what llama.cpp takes for the tokenizer, or none", async () => {
    const endOf = async (metadata: Record<string, WritableValue>) =>
      (await inspectKeys(metadata)).inspection.facts!.eosTokenId;
    const eos = 'tokenizer.ggml.eos_token_id';
    const model = 'tokenizer.ggml.model';
    expect(await endOf({ [model]: text('llama'), [eos]: uint32(7) })).toBe(7);
    expect(await endOf({ [model]: text('llama') })).toBe(2);
    expect(await endOf({ [model]: text('gpt2') })).toBe(11);
    expect(await endOf({ [model]: text('t5') })).toBe(1);
    expect(await endOf({ [model]: text('none') })).toBe(NO_TOKEN);
    expect(await endOf({ [model]: text('llama'), [eos]: { type: 'int32', value: -1 } })).toBe(NO_TOKEN);
  });

  it('a name that was made to deceive stays on one line and short', async () => {
    const nameOf = async (name: string) =>
      (await inspectKeys({ 'general.name': text(name) })).inspection.facts!.modelId;
    expect(await nameOf('a\u001b[2J\r\nb')).toBe('a [2J b');
    expect(await nameOf('  \n ')).toBe('keys');
    const long = await nameOf(`x${'é'.repeat(limits.modelIdBytes)}`);
    expect(Buffer.byteLength(long)).toBe(limits.modelIdBytes - 1);
    expect(long).not.toContain('\ufffd');
  });
});

describe('an obstacle', () => {
  const whole = ['token_embd.weight', 'blk.0.x', 'blk.1.x', 'blk.2.x', 'output_norm.weight'];
  const context = { 'llama.context_length': uint32(64) };

  it('is absent when the model is whole', async () => {
    expect((await inspectKeys(context, whole)).obstacle).toBeUndefined();
  });

  it.each<[string, Record<string, WritableValue>, string[], string]>([
    ['layers that are missing', context, ['token_embd.weight', 'blk.1.x'], 'of its 3 layers the file lacks 0, 2'],
    ['a missing embedding', context, whole.slice(1), 'no token embedding'],
    ['a missing context length', {}, whole, 'llama.context_length'],
    [
      'a file that turns causal attention off',
      { ...context, 'llama.attention.causal': { type: 'bool', value: false } },
      whole,
      'no causal attention',
    ],
    [
      'an encoder with a decoder',
      { ...context, 'general.architecture': text('t5'), 't5.block_count': uint32(3), 't5.embedding_length': uint32(8) },
      whole,
      'architecture t5',
    ],
  ])('is %s', async (_, metadata, names, sentence) => {
    expect((await inspectKeys(metadata, names)).obstacle).toContain(sentence);
  });
});

describe('the layer table', () => {
  it.each([{}, { tied: true }, { layers: 3, shards: 2 }])('of a tiny model with %o adds up', async (options) => {
    const [path] = await writeTinyModel(join(folder, 'sums.gguf'), options);
    const { inspection } = await inspected(path, { includeTensors: true });
    const table = inspection.layers!;
    expect(table.tied).toBe(options.tied ?? false);
    expect(table.totalBytes).toBe(inspection.tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n));
    expect(sumOfGroups(table)).toBe(table.totalBytes);
  });

  it('keeps prediction layers apart', async () => {
    const { inspection } = await inspectKeys({ 'llama.nextn_predict_layers': uint32(1) }, [
      'blk.0.x',
      'blk.1.x',
      'blk.2.x',
      'blk.2.nextn.eh_proj.weight',
      'rope_freqs.weight',
    ]);
    expect(inspection.layers).toMatchObject({ nextTokenPredictionBytes: 64n, globalBytes: 32n, totalBytes: 160n });
    expect(inspection.layers!.layers).toHaveLength(2);
  });
});

describe('the digest', () => {
  it('is over the size of each shard and its bytes up to the end of the tensor table', async () => {
    const paths = await writeTinyModel(join(folder, 'digest.gguf'), { shards: 3 });
    const hash = createHash('sha256');
    for (const path of paths) {
      const size = Buffer.alloc(8);
      size.writeBigUInt64LE(BigInt(statSync(path).size));
      const { tableEnd } = await headerOf(path);
      hash.update(size).update(readFileSync(path).subarray(0, tableEnd));
    }
    expect((await inspected(paths[0])).inspection.digest).toBe(hash.digest('hex'));
  });

  it('changes with the model', async () => {
    const digestOf = async (name: string) =>
      (await inspected((await writeTinyModel(join(folder, 'named.gguf'), { name }))[0])).inspection.digest;
    expect(await digestOf('a')).toBe(await digestOf('a'));
    expect(await digestOf('a')).not.toBe(await digestOf('b'));
  });
});
