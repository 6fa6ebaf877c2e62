import { status } from '@grpc/grpc-js';
import type { FieldViolation } from './field-violation.js';
import { RpcError } from './rpc-error.js';

/** Throws INVALID_ARGUMENT when a field is at fault; the message is the first violation, the details are all of them. */
export function throwIfAny(violations: readonly FieldViolation[]): void {
  const [first, ...others] = violations;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const message = `${first.field}: ${first.description}${more}`;
  throw new RpcError(status.INVALID_ARGUMENT, 'INVALID_FIELDS', message, {
    fieldViolations: violations,
  });
}

/** The error of one field that is at fault. */
export function invalidField(field: string, description: string): RpcError {
  const fieldViolations = [{ field, description }];
  return new RpcError(status.INVALID_ARGUMENT, 'INVALID_FIELDS', `${field}: ${description}`, { fieldViolations });
}
