/** How a tensor type stores its numbers: blocks of `block` elements in `bytes` bytes. */
export interface TensorType {
  readonly id: number;
  readonly block: number;
  readonly bytes: number;
}

/**
 * The GGML types that a current file may hold, from ggml's own type table. Ids 4, 5, 31 to 33 and 36 to 38 were
 * removed from ggml and are unknown here too.
 */
export const tensorTypes = {
  F32: { id: 0, block: 1, bytes: 4 },
  F16: { id: 1, block: 1, bytes: 2 },
  Q4_0: { id: 2, block: 32, bytes: 18 },
  Q4_1: { id: 3, block: 32, bytes: 20 },
  Q5_0: { id: 6, block: 32, bytes: 22 },
  Q5_1: { id: 7, block: 32, bytes: 24 },
  Q8_0: { id: 8, block: 32, bytes: 34 },
  Q8_1: { id: 9, block: 32, bytes: 36 },
  Q2_K: { id: 10, block: 256, bytes: 84 },
  Q3_K: { id: 11, block: 256, bytes: 110 },
  Q4_K: { id: 12, block: 256, bytes: 144 },
  Q5_K: { id: 13, block: 256, bytes: 176 },
  Q6_K: { id: 14, block: 256, bytes: 210 },
  Q8_K: { id: 15, block: 256, bytes: 292 },
  IQ2_XXS: { id: 16, block: 256, bytes: 66 },
  IQ2_XS: { id: 17, block: 256, bytes: 74 },
  IQ3_XXS: { id: 18, block: 256, bytes: 98 },
  IQ1_S: { id: 19, block: 256, bytes: 50 },
  IQ4_NL: { id: 20, block: 32, bytes: 18 },
  IQ3_S: { id: 21, block: 256, bytes: 110 },
  IQ2_S: { id: 22, block: 256, bytes: 82 },
  IQ4_XS: { id: 23, block: 256, bytes: 136 },
  I8: { id: 24, block: 1, bytes: 1 },
  I16: { id: 25, block: 1, bytes: 2 },
  I32: { id: 26, block: 1, bytes: 4 },
  I64: { id: 27, block: 1, bytes: 8 },
  F64: { id: 28, block: 1, bytes: 8 },
  IQ1_M: { id: 29, block: 256, bytes: 56 },
  BF16: { id: 30, block: 1, bytes: 2 },
  TQ1_0: { id: 34, block: 256, bytes: 54 },
  TQ2_0: { id: 35, block: 256, bytes: 66 },
  MXFP4: { id: 39, block: 32, bytes: 17 },
  NVFP4: { id: 40, block: 64, bytes: 36 },
} as const satisfies Record<string, TensorType>;

export type TensorTypeName = keyof typeof tensorTypes;

const namesById = new Map(Object.entries(tensorTypes).map(([name, { id }]) => [id as number, name as TensorTypeName]));

/** The name of a type id, or undefined when no current GGML has it. */
export function tensorTypeName(id: number): TensorTypeName | undefined {
  return namesById.get(id);
}

/**
 * Bytes of a tensor without padding: `ne0 / block * bytes * ne1 * ne2 * ne3`. The first extent must be a multiple of
 * the type's block. In bigint, since a hostile file's product overflows everything else.
 */
export function tensorBytes(type: TensorTypeName, dims: readonly number[]): bigint {
  const { block, bytes } = tensorTypes[type];
  const elements = dims.reduce((product, dim) => product * BigInt(dim), 1n);
  return (elements / BigInt(block)) * BigInt(bytes);
}
