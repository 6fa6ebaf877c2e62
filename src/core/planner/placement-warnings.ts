import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { limits } from '../limits.js';
import { OBJECT_HEADER_BYTES } from './edge-specs.js';

/** What is allowed, but hardly what its author meant. One sentence each. */
export function placementWarnings(input: PlannerInput, plan: RunPlan, settings: readonly StageSettings[]): string[] {
  return [...ignoredPlacements(input), ...smallActivationRing(input, plan, settings), ...crowdedNodes(plan)];
}

/** The reference planner checks placements at or above `stage_count` and then ignores them. */
function ignoredPlacements({ placement, stageCount }: PlannerInput): string[] {
  const stages = placement?.placement?.value.stages ?? [];
  const ignored = stages.map(({ stageIndex }) => stageIndex).filter((stageIndex) => stageIndex >= stageCount);
  if (ignored.length === 0) return [];
  return [
    `the placement of ${stageList(ignored)} is ignored, because stage_count is ${stageCount}: ` +
      'remove it, or raise stage_count',
  ];
}

/** Less than one micro-batch still works, one object at a time, but neighbours then wait for each other. */
function smallActivationRing(input: PlannerInput, plan: RunPlan, settings: readonly StageSettings[]): string[] {
  const { model, stages } = plan;
  const capacity = input.activationRing?.dataCapacity;
  if (!model || capacity === undefined || stages.length < 2) return [];
  const rows = Math.min(model.maxSeqLen, ...settings.slice(0, 1).map(({ microBatch }) => microBatch));
  const needed = OBJECT_HEADER_BYTES + BigInt(rows) * BigInt(model.hiddenDim) * BigInt(model.dtypeWidthBytes);
  if (capacity >= needed) return [];
  return [
    `the activation ring holds ${capacity} bytes, less than one micro-batch of ${rows} rows: ` +
      `raise activation_ring.data_capacity to ${needed} so that neighbouring stages need not wait for each other`,
  ];
}

function crowdedNodes(plan: RunPlan): string[] {
  const byNode = new Map<bigint, number[]>();
  for (const { nodeId, stageIndex } of plan.stages) {
    const held = byNode.get(nodeId);
    if (held) held.push(stageIndex);
    else byNode.set(nodeId, [stageIndex]);
  }
  const crowded = [...byNode].filter(([, held]) => held.length > 1);
  return crowded
    .slice(0, limits.violationsPerRejection)
    .map(
      ([nodeId, held]) =>
        `node ${nodeId} holds ${stageList(held)}, which share its memory: spread them over more nodes`,
    );
}

/** "stage 3", "stages 3 and 7" or "stages 0, 1, 2 and 40 more": a list of any length in a sentence that one can read. */
function stageList(stages: readonly number[]): string {
  const [only, another] = stages;
  if (another === undefined) return `stage ${only}`;
  const named =
    stages.length > limits.violationsPerRejection
      ? stages.slice(0, limits.violationsPerRejection)
      : stages.slice(0, -1);
  const rest = stages.length - named.length;
  return `stages ${named.join(', ')} and ${rest === 1 ? stages.at(-1) : `${rest} more`}`;
}
