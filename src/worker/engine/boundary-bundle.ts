import { demand, demandCount } from './demand.js';
import type { EngineTensor } from './engine-tensor.js';

interface BoundaryBundleFields {
  readonly tensors: readonly EngineTensor[];
  readonly architecture: string;
  readonly boundaryPoint: string;
  readonly tokenIdSideband?: readonly number[];
}

/** What crosses from one stage to the next: named tensors, and no state that is local to a stage. */
export class BoundaryBundle {
  /** At least one. */
  readonly tensors: readonly EngineTensor[];
  /** `general.architecture` of the model. */
  readonly architecture: string;
  /** Where in the model the tensors were taken, such as "blk.3.output". */
  readonly boundaryPoint: string;
  /** Token ids beside the activation, for the architectures whose later layers ask for them. */
  readonly tokenIdSideband: readonly number[] | undefined;

  /** @throws EngineError when a field is empty */
  constructor(fields: BoundaryBundleFields) {
    demand(fields.tensors.length > 0, 'a boundary bundle needs at least one tensor');
    demand(fields.architecture !== '', 'a boundary bundle needs an architecture');
    demand(fields.boundaryPoint !== '', 'a boundary bundle needs a boundary point');
    for (const id of fields.tokenIdSideband ?? []) demandCount(id, 'a token id of the sideband');
    this.tensors = fields.tensors;
    this.architecture = fields.architecture;
    this.boundaryPoint = fields.boundaryPoint;
    this.tokenIdSideband = fields.tokenIdSideband;
  }

  /** The tensor of a name. */
  tensor(name: string): EngineTensor | undefined {
    return this.tensors.find((tensor) => tensor.name === name);
  }
}
