import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { type PlanRejection, PlanRejectionKind } from '../../../gen/stageplane/v1/rejection.js';
import { formatBytes } from '../format-bytes.js';
import { limits } from '../limits.js';
import type { MemoryModel } from '../model/memory-model.js';
import { nodesById, type PoolNode } from './pool-node.js';
import { budgetOf } from './stage-pricing.js';

/** What the stages of a plan take together on one node, and what that node can give. In bytes. */
export interface NodeLoad {
  readonly node: PoolNode;
  /** Of its first stage there. */
  readonly stageIndex: number;
  readonly needed: number;
  /** Undefined when the node does not say how much memory it has. */
  readonly budget: number | undefined;
  readonly usable: number | undefined;
}

/** The nodes of a plan in the order of their first stages. */
export function nodeLoads(
  plan: RunPlan,
  pool: readonly PoolNode[],
  model: MemoryModel,
  settings: StageSettings,
): NodeLoad[] {
  const needed = new Map<bigint, { stageIndex: number; bytes: number }>();
  for (const { nodeId, stageIndex, layerStart, layerEndExclusive } of plan.stages) {
    const before = needed.get(nodeId) ?? { stageIndex, bytes: 0 };
    needed.set(nodeId, { ...before, bytes: before.bytes + model.bytes(layerStart, layerEndExclusive) });
  }
  const nodes = nodesById(pool);
  return [...needed].flatMap(([nodeId, { stageIndex, bytes }]) => {
    const node = nodes.get(nodeId);
    if (!node) return [];
    const budget = budgetOf(node, settings);
    const known = budget.kind === 'known' ? budget : undefined;
    return [{ node, stageIndex, needed: bytes, budget: known?.budget, usable: known?.usable }];
  });
}

/** The plan is whole, but nodes cannot hold what it gives them (I7). The headroom is the launcher's to use. */
export function rejectForMemory(loads: readonly NodeLoad[]): PlanRejection | undefined {
  const short = loads.filter(({ needed, budget }) => budget !== undefined && needed > budget);
  if (short.length === 0) return undefined;
  const violations = short.slice(0, limits.violationsPerRejection).map((load) => ({
    field: `stages[${load.stageIndex}].node_id`,
    message: shortText(load),
  }));
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY,
    message: violations[0]!.message,
    violations,
    neededBytes: BigInt(Math.ceil(short.reduce((sum, { needed }) => sum + needed, 0))),
    availableBytes: BigInt(short.reduce((sum, { budget }) => sum + Math.max(0, budget!), 0)),
  };
}

function shortText({ node, needed, budget }: NodeLoad): string {
  const available = Math.max(0, budget!);
  return `node "${node.name}" would hold ${formatBytes(needed)} and can give ${formatBytes(available)}, ${formatBytes(needed - available)} short: give it fewer layers, ask for a shorter context, or stop a run there`;
}

/** Nodes that a plan fills nearly, and those of which nobody knows; one sentence each. */
export function memoryWarnings(loads: readonly NodeLoad[]): string[] {
  return loads.slice(0, limits.violationsPerRejection).flatMap(({ node, needed, usable }) => {
    if (usable === undefined) {
      return [
        `node "${node.name}" does not say how much memory it has: see that ${formatBytes(needed)} are free there`,
      ];
    }
    if (needed <= usable * limits.fullShareOfUsable) return [];
    const percent = usable > 0 ? `${Math.round((100 * needed) / usable)} % of` : 'more than';
    return [`node "${node.name}" would hold ${formatBytes(needed)}, ${percent} what it can give with headroom`];
  });
}
