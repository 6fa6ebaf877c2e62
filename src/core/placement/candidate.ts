import type { Placement } from './placement.js';

/** As `CandidateStatus` on the wire. */
export type CandidateFate = 'selected' | 'feasible' | 'infeasible' | 'rejected-policy' | 'rejected-dominated';

/** One placement that was looked at, and what became of it. */
export interface Candidate {
  /** The strategy, and what it was held to beyond its own. */
  readonly name: string;
  readonly strategy: string;
  readonly fate: CandidateFate;
  /** Absent exactly when it is infeasible, or when the constraints allowed not even a try. */
  readonly placement: Placement | undefined;
  /** Why it was not selected, one sentence each. */
  readonly reasons: readonly string[];
}
