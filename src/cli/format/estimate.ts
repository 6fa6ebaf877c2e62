import { EstimateBasis as Basis, type Estimate } from '../../../gen/stageplane/v1/planner.js';
import { formatBytes } from '../../core/format-bytes.js';

/** `~5.1 GiB` when it is computed, `5.1 GiB` when something measured it; nothing is exact. */
export function bytesText(estimate: Estimate | undefined): string {
  if (!estimate) return '-';
  return estimate.value > 0 ? `${mark(estimate)}${formatBytes(estimate.value)}` : formatBytes(0);
}

/** `~21.3`, `19.8 measured`: three digits are more than an estimate is worth. */
export function speedText(estimate: Estimate | undefined): string {
  if (!estimate) return '-';
  const { value } = estimate;
  const digits = value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
  const basis = isMeasured(estimate) ? ` ${basisWord(estimate)}` : '';
  return `${mark(estimate)}${digits}${basis}`;
}

/** Where a number comes from, in one word. */
export function basisWord({ basis }: Estimate): string {
  switch (basis) {
    case Basis.ESTIMATE_BASIS_STATIC:
      return 'computed';
    case Basis.ESTIMATE_BASIS_PROFILED:
      return 'profiled';
    case Basis.ESTIMATE_BASIS_LEDGER:
      return 'measured';
    default:
      return 'unknown';
  }
}

/** A sum is computed as soon as one of its parts is; undefined without any part. */
export function sumEstimates(estimates: readonly (Estimate | undefined)[]): Estimate | undefined {
  const known = estimates.filter((estimate) => estimate !== undefined);
  const [first] = known;
  if (!first) return undefined;
  const computed = known.find((estimate) => !isMeasured(estimate));
  const value = known.reduce((sum, estimate) => sum + estimate.value, 0);
  return { ...(computed ?? first), value, note: '' };
}

function isMeasured({ basis }: Estimate): boolean {
  return basis === Basis.ESTIMATE_BASIS_PROFILED || basis === Basis.ESTIMATE_BASIS_LEDGER;
}

function mark(estimate: Estimate): string {
  return isMeasured(estimate) ? '' : '~';
}
