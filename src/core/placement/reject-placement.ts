import { PlanRejectionKind as Kind, type PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { limits } from '../limits.js';
import { type PlacementFault, placementFaultText } from './placement-fault.js';
import { shortfallText } from './shortfall.js';

/** The fault as a typed rejection, with need, budget and deficit of each node in the violations. */
export function rejectPlacement(fault: PlacementFault): PlanRejection {
  const message = placementFaultText(fault);
  switch (fault.kind) {
    case 'infeasible-constraints':
      return {
        kind: Kind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS,
        message,
        violations: [{ field: fault.field, message }],
      };
    case 'no-node-fits-component':
      return {
        kind: Kind.PLAN_REJECTION_KIND_NO_NODE_FITS_COMPONENT,
        message,
        violations: [{ field: 'model', message }],
        neededBytes: BigInt(fault.needed),
        availableBytes: BigInt(fault.available),
        component: fault.component,
      };
    case 'insufficient-memory':
      return {
        kind: Kind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY,
        message,
        violations: fault.shortfalls.slice(0, limits.violationsPerRejection).map((shortfall) => ({
          field: `stages[${shortfall.stageIndex}].node_id`,
          message: shortfallText(shortfall),
        })),
        neededBytes: BigInt(fault.needed),
        availableBytes: BigInt(fault.available),
      };
  }
}
