import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { Fidelity, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { nodesById, type PoolNode } from './pool-node.js';

/** How near the text comes to the whole model's: EXACT is checked by then, so only the engine builds are left to tell. */
export function fidelityOf(plan: RunPlan, pool: readonly PoolNode[], settings: StageSettings): string {
  if (settings.fidelity === Fidelity.FIDELITY_EXACT) return 'exact';
  return buildsOf(plan, pool, settings.engine).size === 1 ? 'same-kernels' : 'mixed';
}

/** The engine builds of the nodes that a plan uses, each with the first node that has it. */
export function buildsOf(plan: RunPlan, pool: readonly PoolNode[], engine: string): ReadonlyMap<string, PoolNode> {
  const nodes = nodesById(pool);
  const builds = new Map<string, PoolNode>();
  for (const { nodeId } of plan.stages) {
    const node = nodes.get(nodeId);
    const build = node?.engines.find(({ name }) => name === engine)?.build;
    if (node && build !== undefined && !builds.has(build)) builds.set(build, node);
  }
  return builds;
}
