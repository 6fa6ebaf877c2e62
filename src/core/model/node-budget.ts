import { limits } from '../limits.js';

/** A device of a node, from one heartbeat. */
export interface MeasuredDevice {
  readonly deviceId: string;
  /** Bytes; 0 is unknown. */
  readonly totalBytes: bigint;
  /** Bytes that no program uses; undefined when the heartbeat said nothing of the device. */
  readonly freeBytes: bigint | undefined;
}

/** What a live stage was promised on the device, and what it holds of that already. */
export interface CommittedStage {
  readonly reservedBytes: bigint;
  /** From the same heartbeat; 0 for a stage that was committed after it. */
  readonly residentBytes: bigint;
}

export interface BudgetRules {
  /** Thousandths of the device that stay free; 0 to 1000. Default 200. */
  readonly headroomMillis?: number | undefined;
  /** Default `limits.deviceReserveBytes`. */
  readonly reserveBytes?: bigint | undefined;
}

export type NodeBudget =
  | {
      readonly kind: 'known';
      /** Bytes that further stages may take; less than 0 when the device is oversold already. */
      readonly budget: number;
      /** Bytes that a plan may use: the budget without the headroom. */
      readonly usable: number;
      /** Bytes of the whole device. */
      readonly total: number;
    }
  /** Nobody may count on it: it is neither full nor endless. */
  | { readonly kind: 'unknown'; readonly reason: 'unknown-memory'; readonly message: string };

/**
 * What a device can still give (I7):
 *
 * `budget = min(total - reserved, free - sum of max(0, reserved - resident)) - reserve`, `usable = budget - ceil(total * headroom)`.
 *
 * The first term is what we promised, the second what others took: promises that are not loaded yet are still in `free`, and
 * must not be promised again. `nodeName` is for the sentence.
 */
export function nodeBudget(
  nodeName: string,
  device: MeasuredDevice,
  stages: readonly CommittedStage[],
  rules: BudgetRules = {},
): NodeBudget {
  const { deviceId, totalBytes: total, freeBytes: free } = device;
  if (total === 0n || free === undefined) {
    const message = `node "${nodeName}" does not say how much memory its device "${deviceId}" has: see that its agent can measure it, or place its stages yourself`;
    return { kind: 'unknown', reason: 'unknown-memory', message };
  }
  const reserved = sum(stages.map(({ reservedBytes }) => reservedBytes));
  const awaited = sum(stages.map(({ reservedBytes, residentBytes }) => positive(reservedBytes - residentBytes)));
  const budget = least(total - reserved, free - awaited) - (rules.reserveBytes ?? BigInt(limits.deviceReserveBytes));
  const headroom = ceilMillis(total, rules.headroomMillis ?? limits.defaultHeadroomMillis);
  return { kind: 'known', budget: Number(budget), usable: Number(budget - headroom), total: Number(total) };
}

/** `ceil(bytes * millis / 1000)`, exact where doubles are not. */
function ceilMillis(bytes: bigint, millis: number): bigint {
  return (bytes * BigInt(millis) + 999n) / 1000n;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
