import type { WritableTensor } from '../encode-header.js';
import type { GgufModel, ModelTensor } from '../open-model.js';
import { stageTensors } from '../stage-tensors.js';
import { positionOf, type SliceRange } from './slice-range.js';
import type { SliceRecipe } from './slice-recipe.js';

const EMBEDDING = 'token_embd.weight';
const HEAD = 'output.weight';

/** A tensor of a slice: the model's own bytes under a name that may be another, or zeros. */
export interface SliceTensor extends WritableTensor {
  /** Where its bytes are; undefined for one that is there only because llama.cpp asks for it. */
  readonly source: ModelTensor | undefined;
}

export interface SliceTensors {
  /** In the order of the model's files; those of zeros last. */
  readonly stored: readonly SliceTensor[];
  /** Everything that the stage reads, in the order of the model's files: `stored`, and what it looks up in the model itself. */
  readonly read: readonly ModelTensor[];
  /** Rows of the tensor that stands as the slice's embedding. */
  readonly vocabularyRows: number;
}

/**
 * The tensors of the stage `range`. Its layers are numbered from 0. The embedding table stays in the model, where the
 * first stage looks up the rows that it needs; all stages but the last have a vocabulary of one row of zeros instead, so
 * that nothing is computed over the whole vocabulary there. The last stage has its head in the embedding's place.
 */
export function sliceTensors(model: GgufModel, range: SliceRange, recipe: SliceRecipe): SliceTensors {
  const position = positionOf(range, model);
  const read = inFileOrder(stageTensors(model, range.start, range.end, position));
  const headName = model.tied ? EMBEDDING : HEAD;
  const stored = read.flatMap((source): SliceTensor[] => {
    const name = nameInSlice(source, range.start, position.last, headName);
    return name === undefined ? [] : [{ name, type: source.type, dims: source.dims, source }];
  });
  const width = model.metadata.requiredInteger(`${model.architecture}.embedding_length`, 1, 0xffff_ffff);
  const fillers = recipe.requiredTensors
    .filter((required) => !stored.some(({ name }) => name === required))
    .map((name): SliceTensor => ({ name, type: 'F32', dims: fillerDims(name, width), source: undefined }));
  const all = [...stored, ...fillers];
  return { stored: all, read, vocabularyRows: all.find(({ name }) => name === EMBEDDING)?.dims[1] ?? 1 };
}

/** Undefined for what the stage reads but does not store. */
function nameInSlice(tensor: ModelTensor, start: number, last: boolean, headName: string): string | undefined {
  const { name, group } = tensor;
  if (group.kind === 'layer') return name.replace(/^blk\.\d+/, `blk.${group.index - start}`);
  if (group.kind === 'embedding') return last && name === headName ? name : undefined;
  return name === HEAD ? EMBEDDING : name;
}

function fillerDims(name: string, width: number): number[] {
  return name === EMBEDDING || name === HEAD ? [width, 1] : [width];
}

/** Shard by shard, and by offset within each: the disk is read forwards. */
function inFileOrder(tensors: readonly ModelTensor[]): ModelTensor[] {
  const shards = new Map([...new Set(tensors.map(({ path }) => path))].map((path, index) => [path, index]));
  return tensors.toSorted((a, b) => shards.get(a.path)! - shards.get(b.path)! || a.offset - b.offset);
}
