import { U32_MAX } from '../../core/uint.js';
import { type Refused, refusing } from '../../gguf/gguf-error.js';
import type { GgufModel } from '../../gguf/open-model.js';

/** The two widths of a model that its stages must agree on. */
export interface ModelShape {
  /** `<arch>.embedding_length`: elements of one activation row. */
  readonly hiddenDim: number;
  /** Entries of the vocabulary, 1 at least. */
  readonly vocabularySize: number;
}

export function modelShape(model: GgufModel): Promise<({ kind: 'shape' } & ModelShape) | Refused> {
  return refusing(async () => {
    const { metadata, architecture } = model;
    const hiddenDim = metadata.requiredInteger(`${architecture}.embedding_length`, 1, U32_MAX);
    const vocabularySize =
      metadata.arrayLength('tokenizer.ggml.tokens') ??
      metadata.integer(`${architecture}.vocab_size`, 1, U32_MAX) ??
      embeddingRows(model);
    return {
      kind: 'shape' as const,
      hiddenDim,
      vocabularySize: Math.max(1, vocabularySize),
    };
  });
}

function embeddingRows(model: GgufModel): number {
  return model.tensors.find((tensor) => tensor.name === 'token_embd.weight')?.dims[1] ?? 1;
}
