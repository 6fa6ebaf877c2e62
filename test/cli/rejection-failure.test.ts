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

it('says in short what kept each strategy from a plan, and the hint last', () => {
  const short = 'stage 0 needs 9 GiB, node "alpha" can give 8 GiB';
  const rejection = PlanRejection.fromPartial({
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY,
    message: 'the model needs 9 GiB, the nodes can give 8 GiB',
    neededBytes: 9n << 30n,
    availableBytes: 8n << 30n,
    violations: [{ field: 'stages[1].node_id', message: 'stage 1 is too large' }],
  });
  const report = PlanReport.fromPartial({
    candidates: [
      { name: 'single-node', reasons: [short, 'more'] },
      { name: 'balance-by-vram', reasons: ['stage 1 is too large'] },
      { name: 'min-latency', reasons: ['no split keeps the caps'] },
      { name: 'even-split', reasons: [short] },
    ],
    exclusions: [{ nodeId: 3n, nodeName: 'beta', reason: 'lost', message: 'node "beta" is lost' }],
    noValidPlanHint: { text: 'there would be a plan: give node "alpha" 1.0 GiB more' },
  });
  expect(rejectionFailure(rejection, report).details).toEqual([
    'needed: 9.0 GiB, available: 8.0 GiB',
    `single-node, even-split: ${short}`,
    'min-latency: no split keeps the caps',
    'not used: beta (3), lost: node "beta" is lost',
    'hint: there would be a plan: give node "alpha" 1.0 GiB more',
  ]);
});
