import type { Comparison } from './compare-answers.js';
import type { KernelComparison } from './compare-kernels.js';

/** What a comparison means for what the run has promised. */
export type Verdict =
  /** Identical. */
  | 'kept'
  /** Different, as could be expected of such a run. */
  | 'expected'
  /** Different, but this machine computes with other kernels than the run, or may do so. */
  | 'no-proof'
  /** Different, and the run had promised that it would not be. */
  | 'broken';

/** @param fidelity as the run says it: "exact", "same-kernels" or "mixed" */
export function judgeComparison(comparison: Comparison, fidelity: string, kernels: KernelComparison): Verdict {
  if (comparison.kind === 'identical') return 'kept';
  if (fidelity !== 'exact') return 'expected';
  return kernels.kind === 'same' ? 'broken' : 'no-proof';
}
