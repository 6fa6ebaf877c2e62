import { Metadata, status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { decodeStatusDetails, encodeStatusDetails, STATUS_DETAILS_KEY } from '../../src/grpc/status-details.js';
import { throwIfAny } from '../../src/grpc/throw-if-any.js';

const sizeOf = (trailers: Metadata) => (trailers.get(STATUS_DETAILS_KEY)[0] as Buffer).length;

test('what is encoded is decoded again', () => {
  const error = new RpcError(status.INVALID_ARGUMENT, 'INVALID_FIELDS', 'plan.mode: 99 is no RunMode', {
    fieldViolations: [{ field: 'plan.mode', description: '99 is no RunMode' }],
    metadata: { mode: '99' },
  });
  expect(decodeStatusDetails(encodeStatusDetails(error))).toEqual({
    code: status.INVALID_ARGUMENT,
    message: 'plan.mode: 99 is no RunMode',
    reason: 'INVALID_FIELDS',
    domain: 'stageplane',
    metadata: { mode: '99' },
    fieldViolations: [{ field: 'plan.mode', description: '99 is no RunMode' }],
  });
});

test('details stay under their bound: violations go first, then figures, never reason and message', () => {
  const long = 'ä'.repeat(100_000);
  const fieldViolations = Array.from({ length: 10_000 }, (_, index) => ({ field: `f[${index}]`, description: long }));
  const many = encodeStatusDetails(new RpcError(status.ABORTED, 'TOO_MUCH', long, { fieldViolations }));
  expect(sizeOf(many)).toBeLessThanOrEqual(limits.statusDetailsBytes);
  const decoded = decodeStatusDetails(many);
  expect(decoded?.reason).toBe('TOO_MUCH');
  expect(decoded?.fieldViolations.length).toBeGreaterThan(3);
  expect(decoded?.fieldViolations[0]).toEqual({ field: 'f[0]', description: 'ä'.repeat(limits.violationBytes / 2) });

  const figures = encodeStatusDetails(new RpcError(status.ABORTED, 'TOO_MUCH', long, { metadata: { long } }));
  expect(sizeOf(figures)).toBeLessThanOrEqual(limits.statusDetailsBytes);
  expect(decodeStatusDetails(figures)).toMatchObject({ reason: 'TOO_MUCH', metadata: {} });
});

test('details that are missing or garbage are no details', () => {
  const garbage = new Metadata();
  garbage.set(STATUS_DETAILS_KEY, Buffer.from([0x1a, 0xff, 0xff, 0xff]));
  expect(decodeStatusDetails(garbage)).toBeUndefined();
  expect(decodeStatusDetails(new Metadata())).toBeUndefined();
});

test('no violation throws nothing; several throw one INVALID_ARGUMENT whose sentence is the first', () => {
  expect(() => throwIfAny([])).not.toThrow();
  const violations = [
    { field: 'a.b', description: 'must be set' },
    { field: 'c[1]', description: 'must be set' },
  ];
  expect(() => throwIfAny(violations)).toThrow(
    expect.objectContaining({
      code: status.INVALID_ARGUMENT,
      message: 'a.b: must be set (and 1 more)',
      fieldViolations: violations,
    }),
  );
});
