import { limits } from '../limits.js';
import type { Ledger } from './stage-footprint.js';

/** A stage that was measured. In bytes. */
interface MeasuredRange {
  readonly start: number;
  readonly end: number;
  readonly bytes: number;
}

/**
 * Believes what was measured over `estimate`, and keeps the promise that a longer stage never takes less: nothing takes
 * less than a measured part of it, and nothing is estimated above a measured stage that it is part of. Measurements of
 * less than `exact` have missed something, such as mapped pages, and those far above the estimate are a lie or an accident
 * that would keep the stage from ever being placed and measured again: both are passed over.
 */
export function correctedBytes(
  ledger: Ledger | undefined,
  numLayers: number,
  exact: (start: number, end: number) => number,
  estimate: (start: number, end: number) => number,
): (start: number, end: number) => number {
  const isCredible = (start: number, end: number, bytes: number) =>
    bytes >= exact(start, end) && bytes <= limits.measuredPerEstimate * estimate(start, end);
  const measured = ledger ? measuredRanges(ledger, numLayers, isCredible) : [];
  if (measured.length === 0) return estimate;
  return (start, end) => {
    let least = 0;
    let most = estimate(start, end);
    for (const range of measured) {
      if (range.start >= start && range.end <= end) least = Math.max(least, range.bytes);
      if (range.start <= start && range.end >= end) most = Math.min(most, range.bytes);
    }
    return Math.max(least, most);
  };
}

function measuredRanges(
  ledger: Ledger,
  numLayers: number,
  isCredible: (start: number, end: number, bytes: number) => boolean,
): MeasuredRange[] {
  const ranges: MeasuredRange[] = [];
  for (let start = 0; start < numLayers; start++) {
    for (let end = start + 1; end <= numLayers; end++) {
      const bytes = ledger(start, end)?.deviceBytes;
      if (bytes !== undefined && isCredible(start, end, bytes)) ranges.push({ start, end, bytes });
      if (ranges.length === limits.measuredRanges) return ranges;
    }
  }
  return ranges;
}
