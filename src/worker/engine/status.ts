/** How an engine answers: `OK`, or why not. `STALE_EPOCH` is an older generation of the run. */
export type StatusCode =
  | 'OK'
  | 'INVALID_ARGUMENT'
  | 'NOT_LOADED'
  | 'CACHE_MISS'
  | 'STALE_EPOCH'
  | 'UNKNOWN_SESSION'
  | 'CANCELLED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'UNIMPLEMENTED'
  | 'INTERNAL';

/** How an engine answered, for programs and for people. */
export interface StructuredStatus {
  readonly code: StatusCode;
  /** One sentence that names the thing and what to do next; empty when `code` is OK. */
  readonly message: string;
}

export const OK: StructuredStatus = Object.freeze({ code: 'OK', message: '' });

export function failure(code: Exclude<StatusCode, 'OK'>, message: string): StructuredStatus {
  return { code, message };
}

/** A malformed request: a mistake at the call site, not an outcome. Callers look at `status.code`, never at a subclass. */
export class EngineError extends Error {
  constructor(readonly status: StructuredStatus) {
    super(status.message);
    this.name = 'EngineError';
  }
}
