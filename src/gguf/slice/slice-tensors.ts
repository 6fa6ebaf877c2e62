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
  /** Entries of the slice's vocabulary. */
  readonly vocabularyRows: number;
}

/**
 * The tensors of the stage `range`. Its layers are numbered from 0. The embedding table stays in the model, where the
 * first stage looks up the rows that it needs; all stages but the last have a vocabulary of one row of zeros instead, so
 * that nothing is computed over the whole vocabulary there. The last stage has its head in the embedding's place, unless
 * the architecture must have both.
 */
export function sliceTensors(model: GgufModel, range: SliceRange, recipe: SliceRecipe): SliceTensors {
  const position = positionOf(range, model);
  const read = inFileOrder(stageTensors(model, range.start, range.end, position));
  const head = position.last ? read.find(({ name }) => name === (model.tied ? EMBEDDING : HEAD)) : undefined;
  const headName = recipe.requiredTensors.includes(HEAD) ? HEAD : EMBEDDING;
  const stored = read.flatMap((source): SliceTensor[] => {
    const name = source === head ? headName : nameInSlice(source, range.start);
    return name === undefined ? [] : [{ name, type: source.type, dims: source.dims, source }];
  });
  const width = model.metadata.requiredInteger(`${model.architecture}.embedding_length`, 1, 0xffff_ffff);
  const vocabularyRows = head?.dims[1] ?? 1;
  const fillers = recipe.requiredTensors
    .filter((required) => !stored.some(({ name }) => name === required))
    .map((name) => filler(name, width, vocabularyRows));
  return { stored: [...stored, ...fillers], read, vocabularyRows };
}

/** Undefined for what the stage reads but does not store. */
function nameInSlice({ name, group }: ModelTensor, start: number): string | undefined {
  if (group.kind === 'layer') return name.replace(/^blk\.\d+/, `blk.${group.index - start}`);
  return group.kind === 'embedding' ? undefined : name;
}

function filler(name: string, width: number, vocabularyRows: number): SliceTensor {
  if (name !== EMBEDDING && name !== HEAD) return { name, type: 'F32', dims: [width], source: undefined };
  // Nobody reads a whole vocabulary of zeros, so it may be of a type that takes little room.
  const type = vocabularyRows > 1 && width % 32 === 0 ? 'Q4_0' : 'F32';
  return { name, type, dims: [width, vocabularyRows], source: undefined };
}

/** Shard by shard, and by offset within each: the disk is read forwards. */
function inFileOrder(tensors: readonly ModelTensor[]): ModelTensor[] {
  const shards = new Map([...new Set(tensors.map(({ path }) => path))].map((path, index) => [path, index]));
  return tensors.toSorted((a, b) => shards.get(a.path)! - shards.get(b.path)! || a.offset - b.offset);
}
