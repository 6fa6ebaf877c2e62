import type { StepInput, StepOutput } from './engine/stage-layers.js';
import { asFloats } from './engine/step-input.js';

/** What a stage must know to read and write its edges. */
export interface StageShape {
  readonly generation: number;
  /** First layer; at 0 token ids come in. */
  readonly layerStart: number;
  /** Whether tokens go out. */
  readonly isTail: boolean;
  /** Elements of one activation row. */
  readonly hiddenDim: number;
}

/** Token ids are u32, activations f32. */
export const ELEMENT_BYTES = 4;

/** Bytes of one row of the inbound edge. */
export function inputRowBytes({ layerStart, hiddenDim }: StageShape): number {
  return layerStart === 0 ? ELEMENT_BYTES : hiddenDim * ELEMENT_BYTES;
}

/** The rows of an object, as the layers take them. */
export function stepInput({ layerStart }: StageShape, payload: Uint8Array): StepInput {
  return layerStart === 0 ? { kind: 'tokens', ids: tokenIds(payload) } : { kind: 'rows', values: asFloats(payload) };
}

/** What the layers gave, as it travels: rows as they are, or a token. */
export function outputPayload(output: StepOutput): Uint8Array {
  if (output.kind === 'rows') {
    const { buffer, byteOffset, byteLength } = output.values;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  const payload = Buffer.allocUnsafe(ELEMENT_BYTES);
  payload.writeUInt32LE(output.tokenId);
  return payload;
}

function tokenIds(payload: Uint8Array): number[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return Array.from({ length: payload.byteLength / ELEMENT_BYTES }, (_, row) =>
    view.getUint32(row * ELEMENT_BYTES, true),
  );
}
