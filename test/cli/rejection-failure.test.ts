import { expect, it } from 'vitest';
import { PlanReport } from '../../gen/stageplane/v1/planner.js';
import { PlanRejection, PlanRejectionKind } from '../../gen/stageplane/v1/rejection.js';
import { rejectionFailure } from '../../src/cli/rejection-failure.js';

it('says each obstacle once, and nothing about nodes that were free', () => {
  const message = '3 stages need 3 nodes, 1 can take one';
  const cordoned = 'node "beta" is cordoned';
  const rejection = PlanRejection.fromPartial({
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS,
    message,
    violations: [
      { field: 'stage_count', message },
      { field: 'stage_count', message: cordoned },
    ],
  });
  const report = PlanReport.fromPartial({
    exclusions: [
      { nodeId: 2n, nodeName: 'alpha', reason: 'not-chosen', message: 'node "alpha" is free' },
      { nodeId: 3n, nodeName: 'beta', reason: 'cordoned', message: cordoned },
      { nodeId: 4n, nodeName: 'gamma', reason: 'lost', message: 'node "gamma" is lost' },
    ],
  });
  const { violations, details } = rejectionFailure(rejection, report);
  expect(violations.map((violation) => violation.message)).toEqual([cordoned]);
  expect(details).toEqual(['not used: gamma (4), lost: node "gamma" is lost']);
});
