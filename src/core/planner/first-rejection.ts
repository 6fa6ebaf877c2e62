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
    const faults = rule.faults(subject);
    // What nearly every rule answers, and an iterator over it would cost more than the rule.
    if (Array.isArray(faults) && faults.length === 0) continue;
    const rejection = rejectionOf(faults);
    if (rejection) return rejection;
  }
  return undefined;
}

/**
 * The rejection that the first fault decides, with up to 16 faults of the same kind as violations. Stops asking for
 * faults when it has them, so that a rule may know billions of them.
 */
export function rejectionOf(faults: Iterable<PlanFault>): PlanRejection | undefined {
  let rejection: PlanRejection | undefined;
  for (const fault of faults) {
    const kind = rejectionKindOf(fault);
    rejection ??= { kind, message: describeFault(fault), violations: [] };
    if (rejection.kind !== kind) continue;
    rejection.violations.push({ field: fault.field, message: describeFault(fault) });
    if (rejection.violations.length === limits.violationsPerRejection) break;
  }
  return rejection;
}
