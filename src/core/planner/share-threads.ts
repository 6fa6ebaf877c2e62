import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { Fidelity, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { type PlanRejection, PlanRejectionKind } from '../../../gen/stageplane/v1/rejection.js';
import { limits } from '../limits.js';
import { isThreaded } from './engine-traits.js';
import { coresObstacle, freeCores } from './free-cores.js';
import { nodesById, type PoolNode } from './pool-node.js';

export type SharedThreads =
  | {
      readonly kind: 'shared';
      /** Of each stage, in stage order. */
      readonly threads: readonly number[];
      /** One sentence each. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'rejected'; readonly rejection: PlanRejection };

interface NodeShare {
  readonly node: PoolNode;
  /** In stage order. */
  readonly stages: readonly number[];
}

/**
 * The threads of each stage. As asked; else the stages of a node share its free cores evenly, and those of an EXACT run
 * have the same number everywhere, which is what the poorest node can give: sums of another number of threads round
 * differently.
 *
 * Too few cores are NODE_NOT_SCHEDULABLE: like a full node, this one takes no such stage now, and will once a run there
 * has stopped. INFEASIBLE_CONSTRAINTS is for what no node of the pool could change.
 */
export function shareThreads(plan: RunPlan, pool: readonly PoolNode[], settings: StageSettings): SharedThreads {
  if (!isThreaded(settings.engine)) {
    return { kind: 'shared', threads: plan.stages.map(() => settings.threads), warnings: [] };
  }
  const shares = sharesOf(plan, pool);
  const own = shares.map((share) => settings.threads || evenShare(share));
  const least = own.reduce((smallest, threads) => Math.min(smallest, threads), limits.threadsPerStage);
  const threadsOf = (at: number) => (settings.fidelity === Fidelity.FIDELITY_EXACT ? least : own[at]!);
  const rejection = rejectForCores(shares, threadsOf);
  if (rejection) return { kind: 'rejected', rejection };
  const threads = plan.stages.map(() => 1);
  for (const [at, { stages }] of shares.entries()) for (const stage of stages) threads[stage] = threadsOf(at);
  return { kind: 'shared', threads, warnings: unknownCores(shares) };
}

/** The nodes of a plan with their stages, in the order of their first ones. */
function sharesOf(plan: RunPlan, pool: readonly PoolNode[]): NodeShare[] {
  const nodes = nodesById(pool);
  const stages = new Map<PoolNode, number[]>();
  for (const { nodeId, stageIndex } of plan.stages) {
    const node = nodes.get(nodeId);
    if (!node) continue;
    const held = stages.get(node);
    if (held) held.push(stageIndex);
    else stages.set(node, [stageIndex]);
  }
  return [...stages].map(([node, held]) => ({ node, stages: held }));
}

/** At least 1, whether or not the node has that many; 1 where nobody knows. */
function evenShare({ node, stages }: NodeShare): number {
  const free = freeCores(node) ?? 0;
  return Math.min(limits.threadsPerStage, Math.max(1, Math.floor(free / stages.length)));
}

function rejectForCores(shares: readonly NodeShare[], threadsOf: (at: number) => number): PlanRejection | undefined {
  const violations = shares.flatMap(({ node, stages }, at) => {
    const message = coresObstacle(node, stages.length, threadsOf(at));
    return message === undefined ? [] : [{ field: `stages[${stages[0]}].node_id`, message }];
  });
  const [first] = violations;
  if (!first) return undefined;
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_NODE_NOT_SCHEDULABLE,
    message: first.message,
    violations: violations.slice(0, limits.violationsPerRejection),
  };
}

function unknownCores(shares: readonly NodeShare[]): string[] {
  return shares
    .filter(({ node }) => freeCores(node) === undefined)
    .slice(0, limits.violationsPerRejection)
    .map(
      ({ node }) =>
        `node "${node.name}" does not say how many cores it has, so nobody checks that its stages share them: ` +
        'see that their threads together are no more than its cores',
    );
}
