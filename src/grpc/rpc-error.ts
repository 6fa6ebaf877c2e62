import { status } from '@grpc/grpc-js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';
import type { FieldViolation } from './field-violation.js';

/** What an error says beside its sentence. */
export interface RpcErrorParts {
  readonly fieldViolations?: readonly FieldViolation[];
  /** Figures that belong to the reason; keys in lowerCamelCase. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** For the log of this process only; it never travels. */
  readonly cause?: unknown;
}

/**
 * The one error that crosses the wire as it is. Handlers throw it, clients catch it; anything else that a handler throws
 * leaves as INTERNAL.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly fieldViolations: readonly FieldViolation[];
  readonly metadata: Readonly<Record<string, string>>;

  /**
   * @param code never OK
   * @param reason constant in SCREAMING_SNAKE_CASE that programs decide by, such as `RUN_NOT_FOUND`
   * @param message one sentence that names the thing and says what to do next; cut to `limits.statusMessageBytes`
   */
  constructor(
    readonly code: status,
    readonly reason: string,
    message: string,
    parts: RpcErrorParts = {},
  ) {
    // A lone surrogate in a status message crashes the process inside grpc-js; clipping makes the text well-formed.
    super(clipText(message, limits.statusMessageBytes), { cause: parts.cause });
    this.fieldViolations = parts.fieldViolations ?? [];
    this.metadata = parts.metadata ?? {};
  }

  /** Name of the code, such as `NOT_FOUND`. */
  get codeName(): string {
    return status[this.code] ?? String(this.code);
  }
}
