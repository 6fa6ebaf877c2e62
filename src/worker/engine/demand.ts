import { EngineError, failure } from './status.js';

/** Throws an `EngineError` of INVALID_ARGUMENT with `sentence` unless `condition` holds. */
export function demand(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new EngineError(failure('INVALID_ARGUMENT', sentence));
}

/** Throws unless `value` is a whole number, 0 to 2^53-1. */
export function demandCount(value: number, name: string): void {
  demand(Number.isSafeInteger(value) && value >= 0, `${name} must be a whole number of 0 or more, not ${value}`);
}
