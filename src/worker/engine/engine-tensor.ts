import { demand } from './demand.js';

interface EngineTensorFields {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly data: Uint8Array;
}

/** One named tensor that crosses the engine's boundary: plain bytes, never a handle of the library that made them. */
export class EngineTensor {
  readonly name: string;
  /** At least one extent, slowest first, each at least 1. */
  readonly shape: readonly number[];
  /** Such as "f32". */
  readonly dtype: string;
  /** Little endian, without gaps. The tensor owns them: its maker never writes to them again. */
  readonly data: Uint8Array;

  /** @throws EngineError when a field is empty or an extent is not a whole number of 1 or more */
  constructor(fields: EngineTensorFields) {
    demand(fields.name !== '', 'a tensor needs a name');
    demand(fields.shape.length > 0, `tensor ${fields.name} needs at least one dimension`);
    for (const extent of fields.shape) {
      demand(Number.isSafeInteger(extent) && extent > 0, `tensor ${fields.name} has a dimension of ${extent}`);
    }
    demand(fields.dtype !== '', `tensor ${fields.name} needs a dtype`);
    this.name = fields.name;
    this.shape = fields.shape;
    this.dtype = fields.dtype;
    this.data = fields.data;
  }
}
