import type { BoundaryBundle } from './boundary-bundle.js';
import type { EngineCapabilities } from './engine-capabilities.js';
import { EngineTensor } from './engine-tensor.js';
import type { StageLayers, StepInput } from './stage-layers.js';
import { failure, type StructuredStatus } from './status.js';
import type { DecodeRequest, PrefillRequest } from './steps.js';

export type StepRows =
  | { readonly kind: 'rows'; readonly count: number; readonly input: StepInput }
  | { readonly kind: 'refused'; readonly status: StructuredStatus };

/** Name of the one tensor of a bundle: `rows x hiddenDim` in f32. */
const TENSOR_NAME = 'hidden';
const DTYPE = 'f32';

/** Where the output of a layer is taken, in the words of the file: "blk.3.output". */
export function boundaryAfter(layer: number): string {
  return `blk.${layer}.output`;
}

/** The tensor that carries activation rows to the next stage. */
export function hiddenTensor(values: Float32Array, hiddenDim: number): EngineTensor {
  return hiddenTensorOf(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), hiddenDim);
}

/** The same of rows as they travel: f32 little endian, a multiple of `hiddenDim` of them. */
export function hiddenTensorOf(data: Uint8Array, hiddenDim: number): EngineTensor {
  const rows = data.byteLength / (hiddenDim * Float32Array.BYTES_PER_ELEMENT);
  return new EngineTensor({ name: TENSOR_NAME, shape: [rows, hiddenDim], dtype: DTYPE, data });
}

/** Takes the rows out of a request, or says why this stage cannot use them. */
export function readStepRows(
  request: PrefillRequest | DecodeRequest,
  stage: EngineCapabilities,
  layers: StageLayers,
): StepRows {
  const rows =
    request.input === undefined ? tokenRows(request, stage, layers) : bundleRows(request.input, stage, layers);
  if (rows.kind === 'refused') return rows;
  if (rows.count === 0) return refused('a step needs at least one row');
  if (request.kind === 'decode' && rows.count !== 1) {
    return refused(`a decode step has one row, not ${rows.count}; send several as a prefill`);
  }
  return rows;
}

function tokenRows(request: PrefillRequest | DecodeRequest, stage: EngineCapabilities, layers: StageLayers): StepRows {
  if (!stage.isHead) {
    return refused(`this stage starts at layer ${stage.shardStart}: send it a boundary bundle, not token ids`);
  }
  const ids = request.kind === 'prefill' ? (request.tokenIds ?? []) : [request.tokenId!];
  const input: StepInput = { kind: 'tokens', ids };
  const status = unknownToken(input, layers);
  return status === undefined ? { kind: 'rows', count: ids.length, input } : { kind: 'refused', status };
}

/** The first token id that the vocabulary does not have, in a sentence; undefined when there is none. */
export function unknownToken(input: StepInput, layers: StageLayers): StructuredStatus | undefined {
  if (input.kind === 'rows') return undefined;
  const unknown = input.ids.find((id) => id >= layers.vocabularySize);
  if (unknown === undefined) return undefined;
  const message = `token ${unknown} is outside the vocabulary of ${layers.vocabularySize} entries`;
  return failure('INVALID_ARGUMENT', message);
}

export function rowsOf(input: StepInput, hiddenDim: number): number {
  return input.kind === 'tokens' ? input.ids.length : input.values.length / hiddenDim;
}

function bundleRows(bundle: BoundaryBundle, stage: EngineCapabilities, layers: StageLayers): StepRows {
  if (stage.isHead) return refused('this stage starts at layer 0: send it token ids, not a boundary bundle');
  if (bundle.architecture !== layers.architecture) {
    return refused(`the bundle is of architecture ${bundle.architecture}, this stage of ${layers.architecture}`);
  }
  const expected = boundaryAfter(stage.shardStart - 1);
  if (bundle.boundaryPoint !== expected) {
    return refused(`the bundle was taken at ${bundle.boundaryPoint}, but this stage continues from ${expected}`);
  }
  const tensor = bundle.tensor(TENSOR_NAME);
  if (tensor === undefined) return refused(`the bundle has no tensor "${TENSOR_NAME}"`);
  return hiddenRows(tensor, layers.hiddenDim);
}

function hiddenRows(tensor: EngineTensor, hiddenDim: number): StepRows {
  const [rows, width, ...more] = tensor.shape;
  if (tensor.dtype !== DTYPE || width !== hiddenDim || more.length > 0) {
    const shape = tensor.shape.join(' x ');
    return refused(`the bundle's rows are ${shape} ${tensor.dtype}; this stage takes rows x ${hiddenDim} ${DTYPE}`);
  }
  const bytes = rows! * hiddenDim * Float32Array.BYTES_PER_ELEMENT;
  if (tensor.data.byteLength !== bytes) {
    return refused(`the bundle has ${tensor.data.byteLength} bytes of rows, but its shape needs ${bytes}`);
  }
  return { kind: 'rows', count: rows!, input: { kind: 'rows', values: asFloats(tensor.data) } };
}

/** Little endian f32 as numbers: the same memory where it lies on a multiple of four, a copy where it does not. */
export function asFloats(data: Uint8Array): Float32Array {
  const bytes = data.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? data : new Uint8Array(data);
  return new Float32Array(bytes.buffer, bytes.byteOffset, data.byteLength / Float32Array.BYTES_PER_ELEMENT);
}

function refused(message: string): StepRows {
  return { kind: 'refused', status: failure('INVALID_ARGUMENT', message) };
}
