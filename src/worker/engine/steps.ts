import type { BoundaryBundle } from './boundary-bundle.js';
import { demand, demandCount } from './demand.js';
import { type ArchitectureAuxStateHook, MtpHook } from './hooks.js';

/** Whether the caller counts on positions that the session already holds. */
export type CacheExpectation = 'NONE' | 'EXPECT_HIT';

interface StepFields {
  readonly sessionId: string;
  readonly routeEpoch: number;
  readonly position: number;
  readonly idempotencyStep: number;
  readonly input?: BoundaryBundle;
  readonly mtp?: MtpHook;
  readonly architectureAuxState?: ArchitectureAuxStateHook;
}

/** What prefill and decode have in common. */
abstract class StepRequest {
  readonly sessionId: string;
  /** The run's generation. */
  readonly routeEpoch: number;
  /** Position of the first row, from 0. */
  readonly position: number;
  /** Names the step within its session; a repetition gets the first answer again. */
  readonly idempotencyStep: number;
  /** Activations of the stage before; set exactly when no token ids are. */
  readonly input: BoundaryBundle | undefined;
  readonly mtp: MtpHook;
  readonly architectureAuxState: ArchitectureAuxStateHook | undefined;

  constructor(fields: StepFields, hasTokens: boolean) {
    demand(fields.sessionId !== '', 'a step needs a session id');
    demandCount(fields.routeEpoch, 'routeEpoch');
    demandCount(fields.position, 'position');
    demandCount(fields.idempotencyStep, 'idempotencyStep');
    demand(
      hasTokens !== (fields.input !== undefined),
      'a step needs either token ids or a boundary bundle, and not both',
    );
    this.sessionId = fields.sessionId;
    this.routeEpoch = fields.routeEpoch;
    this.position = fields.position;
    this.idempotencyStep = fields.idempotencyStep;
    this.input = fields.input;
    this.mtp = fields.mtp ?? new MtpHook();
    this.architectureAuxState = fields.architectureAuxState;
  }
}

/** Several rows of a prompt. A head gets `tokenIds`, any other stage gets `input`. */
export class PrefillRequest extends StepRequest {
  readonly kind = 'prefill';
  readonly tokenIds: readonly number[] | undefined;
  readonly cacheExpectation: CacheExpectation;

  /** @throws EngineError when a number is negative, or not exactly one of `tokenIds` and `input` is set */
  constructor(
    fields: StepFields & {
      tokenIds?: readonly number[];
      cacheExpectation?: CacheExpectation;
    },
  ) {
    super(fields, fields.tokenIds !== undefined);
    for (const id of fields.tokenIds ?? []) demandCount(id, 'a token id');
    this.tokenIds = fields.tokenIds;
    this.cacheExpectation = fields.cacheExpectation ?? 'NONE';
  }
}

/** One row. A head gets `tokenId`, any other stage gets `input`. */
export class DecodeRequest extends StepRequest {
  readonly kind = 'decode';
  readonly tokenId: number | undefined;

  /** @throws EngineError when a number is negative, or not exactly one of `tokenId` and `input` is set */
  constructor(fields: StepFields & { tokenId?: number }) {
    super(fields, fields.tokenId !== undefined);
    if (fields.tokenId !== undefined) demandCount(fields.tokenId, 'a token id');
    this.tokenId = fields.tokenId;
  }
}
