import type { BoundaryBundle } from './boundary-bundle.js';
import { demand } from './demand.js';
import type { StructuredStatus } from './status.js';
import type { TokenOutput } from './token-output.js';

/** Whether the positions that the caller counted on were there. */
export type CacheResult = 'NOT_REQUESTED' | 'HIT' | 'MISS';

interface StepResultFields {
  readonly status: StructuredStatus;
  readonly cacheResult?: CacheResult;
  readonly output?: BoundaryBundle | TokenOutput;
}

/** The answer to one step. */
export class StepResult {
  readonly status: StructuredStatus;
  readonly cacheResult: CacheResult;
  /** A bundle for the next stage, or the last stage's token. Always set when the status is OK. */
  readonly output: BoundaryBundle | TokenOutput | undefined;

  /** @throws EngineError when the status is OK and there is no output */
  constructor(fields: StepResultFields) {
    demand(fields.status.code !== 'OK' || fields.output !== undefined, 'a successful step needs an output');
    this.status = fields.status;
    this.cacheResult = fields.cacheResult ?? 'NOT_REQUESTED';
    this.output = fields.output;
  }
}
