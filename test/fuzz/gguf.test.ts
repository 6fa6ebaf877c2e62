import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ModelInspection } from '../../gen/stageplane/v1/model.js';
import { tensorTypeName } from '../../src/core/tensors/tensor-type.js';
import { encodeHeader, type WritableTensor, type WritableValue } from '../../src/gguf/encode-header.js';
import { GgufError, refusing } from '../../src/gguf/gguf-error.js';
import { type Inspected, inspectModel } from '../../src/gguf/inspect-model.js';
import { type GgufModel, type ModelTensor, openModel } from '../../src/gguf/open-model.js';
import { modelCuts, sliceObstacle } from '../../src/gguf/slice/slice-range.js';
import { sliceRecipes } from '../../src/gguf/slice/slice-recipes.js';
import { keptForSlices, sliceBytes, sliceReadBytes } from '../../src/gguf/slice/write-slice.js';
import { stageTensors } from '../../src/gguf/stage-tensors.js';
import { type TinyModelOptions, writeTinyModel } from '../../src/gguf/tiny-model.js';
import { type NumberType, valueTypes } from '../../src/gguf/value-type.js';
import { type RealHeader, readRealHeader, realHeaders } from '../gguf/real-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { openFiles, packFiles, unpackFiles } from './gguf-files.js';
import { mutateGguf } from './gguf-mutation.js';

const folder = temporaryFolder(afterAll);
const LONGEST_SENTENCE = 700;

test('a hostile model is inspected or refused, and costs no more than its files', {
  timeout: fuzzTimeout,
}, async () => {
  const seeds = [...(await tinyModels()), ...smallFiles(), ...realModels()];
  const outcomes = await fuzz({ name: 'gguf', seeds, mutate: mutateGguf, run: runModel });
  // The changes reach beyond the first check.
  const refusals = [...outcomes.keys()].filter((outcome) => outcome.startsWith('refused'));
  expect(refusals.length).toBeGreaterThan(15);
  expect(outcomes.get('inspected llama sliced')).toBeGreaterThan(20);
});

async function runModel(input: Buffer): Promise<string> {
  const { path, open, misuse } = openFiles(unpackFiles(input));
  const result = await inspectModel(path, { open, includeTensors: true });
  assert.deepEqual(misuse(), []);
  if (result.kind === 'refused') return refusal(result.error);
  const tensors = checkTensors(result);
  const slices = await runSlices(path, { open });
  assert.deepEqual(misuse(), []);
  const obstacle = result.obstacle === undefined ? '' : ' with an obstacle';
  return `inspected ${nameOf(result.model.architecture)}${obstacle}${tensors}${slices}`;
}

function refusal(error: GgufError): string {
  assert(error instanceof GgufError);
  assert(error.message.length < LONGEST_SENTENCE, error.message);
  return `refused ${error.kind}`;
}

function nameOf(architecture: string): string {
  return sliceRecipes.has(architecture) ? architecture : 'another';
}

/** Whatever was accepted lies inside its files and adds up. */
function checkTensors({ model, inspection }: Inspected): string {
  const decoded = ModelInspection.decode(ModelInspection.encode(inspection).finish());
  assert.equal(decoded.tensors.length, model.tensors.length);
  const sum = model.tensors.reduce((total, { bytes }) => total + BigInt(bytes), 0n);
  assert.equal(inspection.layers!.totalBytes, sum);
  assert(sum <= BigInt(model.fileBytes));
  assert.equal(new Set(model.tensors.map(({ name }) => name)).size, model.tensors.length);
  checkOverlap(model.tensors);
  return model.tensors.length === 0 ? ' without tensors' : '';
}

function checkOverlap(tensors: readonly ModelTensor[]): void {
  const ends = new Map<string, number>();
  for (const { path, offset, bytes } of tensors.toSorted((a, b) => a.offset - b.offset)) {
    assert(offset >= (ends.get(path) ?? 0));
    ends.set(path, offset + bytes);
  }
}

async function runSlices(
  path: string,
  options: Pick<Parameters<typeof openModel>[1] & object, 'open'>,
): Promise<string> {
  const opened = await openModel(path, { ...options, keep: keptForSlices });
  if (opened.kind === 'refused') return ` ${refusal(opened.error)}`;
  const { model } = opened;
  const half = Math.floor(model.numLayers / 2);
  const parts = [stage(model, 0, half), stage(model, half, model.numLayers)];
  for (const { bytes } of parts.flat()) assert(Number.isSafeInteger(bytes));
  const recipe = sliceRecipes.get(model.architecture);
  if (recipe === undefined) return '';
  const cut = await refusing(async () => {
    const cuts = modelCuts(recipe, model);
    const start = cuts.kind === 'cuttable' ? (cuts.starts.at(0) ?? 0) : 0;
    const spec = { model, recipe, range: { start, end: model.numLayers } };
    const obstacle = sliceObstacle(recipe, model, spec.range);
    if (obstacle !== undefined) {
      assert(obstacle.length < LONGEST_SENTENCE, obstacle);
      return { kind: 'obstacle' as const };
    }
    assert(sliceReadBytes(spec) <= model.fileBytes);
    assert(sliceBytes(spec) > 0);
    return { kind: 'sliced' as const };
  });
  return cut.kind === 'refused' ? ` slice ${refusal(cut.error)}` : ` ${cut.kind}`;
}

const stage = (model: GgufModel, start: number, end: number) =>
  stageTensors(model, start, end, { first: start === 0, last: end === model.numLayers });

async function tinyModels(): Promise<Buffer[]> {
  const small = { layers: 2, hidden: 8, feedForward: 8, heads: 1, headsKv: 1, vocabulary: 260 };
  const variants: TinyModelOptions[] = [{ version: 1 }, { version: 2 }, {}, { tied: true }, { shards: 3 }];
  return Promise.all(
    variants.map(async (variant, index) => {
      const paths = await writeTinyModel(join(folder, `tiny-${index}.gguf`), { ...small, ...variant });
      return packFiles(paths.map((path) => ({ bytes: readFileSync(path), zeros: 0 })));
    }),
  );
}

function smallFiles(): Buffer[] {
  return ['example.gguf', 'test_writer.gguf', 'NEG-lfs-pointer-aquila.gguf'].map((name) => {
    const bytes = readFileSync(new URL(`../gguf/files/${name}`, import.meta.url));
    return packFiles([{ bytes, zeros: 0 }]);
  });
}

/** The keys of real models with short arrays, and the tensors of their first layers, in a file of their real size. */
function realModels(): Buffer[] {
  return (Object.keys(realHeaders) as (keyof typeof realHeaders)[]).map((name) => {
    const real = readRealHeader(name);
    const metadata = real.header.metadataKV
      .filter(({ key }) => !key.startsWith('split.'))
      .map(({ key, valueType, value }): [string, WritableValue] => [key, shortened(valueType, value)]);
    const bytes = Buffer.from(encodeHeader({ metadata, tensors: firstTensors(real) }));
    return packFiles([{ bytes, zeros: 16 * 1024 * 1024 }]);
  });
}

function firstTensors({ tensorInfos }: RealHeader): WritableTensor[] {
  return tensorInfos
    .filter(({ name }) => !/^blk\.(?:[4-9]|\d\d)/.test(name))
    .map(({ name, dimensions, type }) => ({ name, type: tensorTypeName(type)!, dims: dimensions }));
}

function shortened(valueType: number, value: unknown): WritableValue {
  const type = valueTypes[valueType]!;
  if (type === 'string') return { type, value: String(value).slice(0, 100) };
  if (type !== 'array') return { type, value: value as number };
  const elements = valueTypes[(value as { type: number }).type]!;
  if (elements === 'string') return { type, elements, items: ['a', 'bc', 'def'] };
  return { type, elements: elements as NumberType, items: [1, 2, 3] };
}
