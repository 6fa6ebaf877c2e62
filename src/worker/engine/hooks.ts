import { demandCount } from './demand.js';
import { EngineError, failure } from './status.js';

interface MtpHookFields {
  readonly enabled?: boolean;
  readonly draftTokenCount?: number;
  readonly auxState?: Readonly<Record<string, unknown>>;
}

/** Reserved for multi-token prediction: the shape is fixed, the feature is not there. */
export class MtpHook {
  readonly enabled = false;
  readonly draftTokenCount: number;
  readonly auxState: Readonly<Record<string, unknown>> | undefined;

  /** @throws EngineError UNIMPLEMENTED when enabled */
  constructor(fields: MtpHookFields = {}) {
    if (fields.enabled) {
      throw new EngineError(failure('UNIMPLEMENTED', 'multi-token prediction is reserved; leave mtp.enabled off'));
    }
    this.draftTokenCount = fields.draftTokenCount ?? 0;
    demandCount(this.draftTokenCount, 'mtp.draftTokenCount');
    this.auxState = fields.auxState;
  }
}

/** State of one architecture that stays in its stage, keyed by session and epoch: in no bundle and on no wire. */
export class ArchitectureAuxStateHook {
  constructor(
    readonly kind: string,
    readonly state?: Readonly<Record<string, unknown>>,
  ) {}

  /** Leaves the hook out of whatever is written as JSON. */
  toJSON(): undefined {
    return undefined;
  }
}
