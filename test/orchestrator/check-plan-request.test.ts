import { expect, it } from 'vitest';
import { AutomaticPlacement, PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { checkPlanRequest } from '../../src/orchestrator/check-plan-request.js';

function pinned(pins: readonly (readonly [stageIndex: number, nodeId: bigint])[]): PlanRequest {
  const constraints = { pins: pins.map(([stageIndex, nodeId]) => ({ stageIndex, nodeId })) };
  const value = AutomaticPlacement.fromPartial({ constraints });
  return PlanRequest.fromPartial({ placement: { $case: 'automatic', value } });
}

it('a stage may be pinned to one node, and a node may hold several pinned stages', () => {
  const twoDevices = [
    [0, 2n],
    [1, 3n],
    [2, 2n],
  ] as const;
  expect(() => checkPlanRequest(pinned(twoDevices))).not.toThrow();
  const torn = [
    [0, 2n],
    [0, 3n],
  ] as const;
  expect(() => checkPlanRequest(pinned(torn))).toThrow(
    expect.objectContaining({
      fieldViolations: [
        {
          field: 'plan.automatic.constraints.pins',
          description: 'stage 0 is pinned to node 2 and to node 3; pin each stage to one node',
        },
      ],
    }),
  );
});
