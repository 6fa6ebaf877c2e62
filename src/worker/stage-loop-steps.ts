import type { ObjectRecord } from './edge/object-record.js';
import { BoundaryBundle } from './engine/boundary-bundle.js';
import { boundaryAfter, hiddenTensorOf } from './engine/step-input.js';
import type { StepResult } from './engine/step-result.js';
import { DecodeRequest, PrefillRequest } from './engine/steps.js';
import { TokenOutput } from './engine/token-output.js';

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

/** The engine's step for an object whose first row has `position`. `isDecode` only for a single row. */
export function stepRequest(
  stage: StageShape & { readonly architecture: string },
  { session, sequence, payload }: ObjectRecord,
  position: number,
  isDecode: boolean,
): PrefillRequest | DecodeRequest {
  const fields = {
    sessionId: String(session),
    routeEpoch: stage.generation,
    position,
    idempotencyStep: sequence,
  };
  if (stage.layerStart > 0) {
    const input = new BoundaryBundle({
      tensors: [hiddenTensorOf(payload, stage.hiddenDim)],
      architecture: stage.architecture,
      boundaryPoint: boundaryAfter(stage.layerStart - 1),
    });
    return isDecode ? new DecodeRequest({ ...fields, input }) : new PrefillRequest({ ...fields, input });
  }
  const ids = tokenIds(payload);
  return isDecode
    ? new DecodeRequest({ ...fields, tokenId: ids[0]! })
    : new PrefillRequest({ ...fields, tokenIds: ids });
}

/** What a successful step sends on: its rows as they are, or its token. */
export function resultPayload({ output }: StepResult): Uint8Array {
  if (!(output instanceof TokenOutput)) return output!.tensors[0]!.data;
  const payload = Buffer.alloc(ELEMENT_BYTES);
  payload.writeUInt32LE(output.tokenId);
  return payload;
}

function tokenIds(payload: Uint8Array): number[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return Array.from({ length: payload.byteLength / ELEMENT_BYTES }, (_, row) =>
    view.getUint32(row * ELEMENT_BYTES, true),
  );
}
