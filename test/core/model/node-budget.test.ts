import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits.js';
import { type CommittedStage, nodeBudget } from '../../../src/core/model/node-budget.js';

const device = (totalBytes: bigint, freeBytes: bigint | undefined) => ({ deviceId: 'cuda:0', totalBytes, freeBytes });
const stage = (reservedBytes: bigint, residentBytes: bigint): CommittedStage => ({ reservedBytes, residentBytes });
const none = { reserveBytes: 0n, headroomMillis: 0 };

function budgetOf(...[measured, stages, rules = none]: [ReturnType<typeof device>, CommittedStage[], object?]) {
  const budget = nodeBudget('gpu-a', measured, stages, rules);
  if (budget.kind === 'unknown') throw new Error(budget.message);
  return budget;
}

describe('a budget', () => {
  it('is 4 of 24 when others use 10 and 10 are promised but not loaded: the free ones are spoken for', () => {
    expect(budgetOf(device(24n, 14n), [stage(10n, 0n)]).budget).toBe(4);
  });

  it('does not change while a promised stage loads', () => {
    for (const loaded of [0n, 3n, 10n]) {
      expect(budgetOf(device(24n, 14n - loaded), [stage(10n, loaded)]).budget).toBe(4);
    }
  });

  it('counts a stage that holds more than it was promised by what it holds', () => {
    expect(budgetOf(device(24n, 12n), [stage(10n, 12n)]).budget).toBe(12);
    // What one stage holds too much is not another's.
    expect(budgetOf(device(24n, 12n), [stage(10n, 12n), stage(5n, 0n)]).budget).toBe(7);
  });

  it('never promises more than there is, however much a cache makes seem free', () => {
    expect(budgetOf(device(24n, 24n), [stage(10n, 10n)]).budget).toBe(14);
  });

  it('is less than 0 when a device is oversold already, and 0 free is a number too', () => {
    expect(budgetOf(device(24n, 2n), [stage(10n, 0n)]).budget).toBe(-8);
    expect(budgetOf(device(24n, 0n), []).budget).toBe(0);
  });

  it('keeps the reserve, and headroom of the whole device, rounded up', () => {
    expect(budgetOf(device(24n, 14n), [], { reserveBytes: 3n, headroomMillis: 100 })).toMatchObject({
      budget: 11,
      usable: 8,
      total: 24,
    });
    const gib = 1024n ** 3n;
    const { budget, usable } = budgetOf(device(24n * gib, 24n * gib), [], {});
    expect(budget).toBe(Number(24n * gib) - limits.deviceReserveBytes);
    expect(usable).toBe(budget - Math.ceil(0.2 * Number(24n * gib)));
  });

  it.each([
    ['no total', device(0n, 0n)],
    ['no word of the device in the heartbeat', device(24n, undefined)],
  ])('is unknown with %s: neither nothing nor endless', (_, measured) => {
    expect(nodeBudget('gpu-a', measured, [])).toEqual({
      kind: 'unknown',
      reason: 'unknown-memory',
      message: expect.stringMatching(/node "gpu-a" .* device "cuda:0"/),
    });
  });
});

it('what is promised within a budget never exceeds the device, nor what others leave of it', () => {
  const bytes = fc.bigInt(0n, 2n ** 40n);
  fc.assert(
    fc.property(bytes, bytes, fc.array(fc.tuple(bytes, bytes), { maxLength: 5 }), (spare, others, pairs) => {
      const stages = pairs.map(([reserved, part]) => stage(reserved, part % (reserved + 1n)));
      const promised = stages.reduce((sum, { reservedBytes }) => sum + reservedBytes, 0n);
      const held = stages.reduce((sum, { residentBytes }) => sum + residentBytes, 0n);
      const total = promised + others + spare + 1n;
      // What is left when all that was promised is loaded beside what others use.
      expect(budgetOf(device(total, total - others - held), stages).budget).toBe(Number(spare + 1n));
    }),
  );
});
