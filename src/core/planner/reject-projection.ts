import { ProjectionRejectionKind as Kind, type ProjectionRejection } from '../../../gen/stageplane/v1/rejection.js';
import { describeFault } from './describe-fault.js';
import type { PlanFault } from './plan-fault.js';

/** Why a stage cannot be projected. `stage` and `edge` are pictures of the values that were looked for. */
export type ProjectionFault =
  | { kind: 'unknown-stage'; stage: string }
  | { kind: 'unreadable-plan' }
  | { kind: 'broken-stage'; stage: string; fault: PlanFault }
  | {
      kind: 'missing-edge';
      stage: string;
      edge: bigint;
      role: 'inbound' | 'outbound';
    }
  | {
      kind: 'broken-edge';
      stage: string;
      edge: bigint;
      role: 'inbound' | 'outbound';
      fault: PlanFault;
    };

/** The rejection of a fault; its sentence is built here and nowhere else. */
export function projectionRejection(fault: ProjectionFault): ProjectionRejection {
  const edgeIsMissing = fault.kind === 'missing-edge' || fault.kind === 'broken-edge';
  return {
    kind: edgeIsMissing ? Kind.PROJECTION_REJECTION_KIND_MISSING_EDGE : Kind.PROJECTION_REJECTION_KIND_UNKNOWN_STAGE,
    message: sentence(fault),
  };
}

function sentence(fault: ProjectionFault): string {
  switch (fault.kind) {
    case 'unknown-stage':
      return `the plan has no stage ${fault.stage}: ask for one that it lists`;
    case 'unreadable-plan':
      return 'the plan throws when it is read: give a plain message object';
    case 'broken-stage':
      return `stage ${fault.stage} of the plan is not whole: ${describeFault(fault.fault)}`;
    case 'missing-edge':
      return `the plan has no edge ${fault.edge}, the ${fault.role} edge of stage ${fault.stage}: add it to edges`;
    case 'broken-edge':
      return (
        `edge ${fault.edge}, the ${fault.role} edge of stage ${fault.stage}, is not whole: ` +
        `${describeFault(fault.fault)}`
      );
  }
}
