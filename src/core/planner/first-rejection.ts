import type { PlanRejection, PlanRejectionKind } from '../../../gen/stageplane/v1/rejection.js';
import { limits } from '../limits.js';
import { describeFault, rejectionKindOf } from './describe-fault.js';
import type { PlanFault } from './plan-fault.js';

/** One check: the kinds it can decide for, and the faults it finds, most significant first. */
export interface PlanRule<T> {
  decides: readonly PlanRejectionKind[];
  faults: (subject: T) => Iterable<PlanFault>;
}

/** The rejection of the first rule that finds a fault; nothing when all rules hold. */
export function firstRejection<T>(rules: readonly PlanRule<T>[], subject: T): PlanRejection | undefined {
  for (const rule of rules) {
    const rejection = rejectionOf(rule.faults(subject));
    if (rejection) return rejection;
  }
  return undefined;
}

/**
 * The rejection that the first fault decides, with up to 16 faults of the same kind as violations. Stops asking for
 * faults when it has them, so that a rule may know billions of them.
 */
export function rejectionOf(faults: Iterable<PlanFault>): PlanRejection | undefined {
  const deciding: PlanFault[] = [];
  for (const fault of faults) {
    if (deciding[0] && rejectionKindOf(deciding[0]) !== rejectionKindOf(fault)) continue;
    deciding.push(fault);
    if (deciding.length === limits.violationsPerRejection) break;
  }
  const [first] = deciding;
  if (!first) return undefined;
  const violations = deciding.map((fault) => ({
    field: fault.field,
    message: describeFault(fault),
  }));
  return {
    kind: rejectionKindOf(first),
    message: describeFault(first),
    violations,
  };
}
