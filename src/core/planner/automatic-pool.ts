import type { PlacementConstraints } from '../../../gen/stageplane/v1/planner.js';
import { Fidelity, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlacementNode } from '../placement/placement-problem.js';
import { hopSeconds, speedOf } from './node-speed.js';
import { type NodeObstacle, obstacleFor, type PoolNode } from './pool-node.js';
import { budgetOf } from './stage-pricing.js';

/** A node that a search may use. */
export interface AutomaticNode extends PlacementNode {
  /** Nobody knows its device: only measuring it says how fast it is. */
  readonly profilingRequired: boolean;
}

export interface AutomaticPool {
  readonly nodes: readonly AutomaticNode[];
  /** Why each of the others may not be used. */
  readonly obstacles: ReadonlyMap<bigint, NodeObstacle>;
}

/** The nodes that may take a stage, with what they can give and how fast they are, and why the others may not (I15). */
export function automaticPool(
  pool: readonly PoolNode[],
  settings: StageSettings,
  { excludedNodeIds, layerCaps, headroomMillis }: PlacementConstraints,
): AutomaticPool {
  const excluded = new Set(excludedNodeIds);
  const caps = new Map(layerCaps.map(({ nodeId, maxLayers }) => [nodeId, maxLayers]));
  const obstacles = new Map<bigint, NodeObstacle>();
  const nodes: AutomaticNode[] = [];
  for (const node of pool) {
    const obstacle = excluded.has(node.nodeId) ? exclusionOf(node) : obstacleFor(node, settings);
    const budget = obstacle ?? budgetOf(node, settings, headroomMillis);
    if (!('usable' in budget)) {
      obstacles.set(node.nodeId, budget);
      continue;
    }
    const { bytesPerSecond, profilingRequired } = speedOf(node, settings);
    nodes.push({
      nodeId: node.nodeId,
      name: node.name,
      usable: budget.usable,
      capacity: budget.total,
      // The memory model has counted the process already.
      overhead: 0,
      secondsPerByte: 1 / bytesPerSecond,
      hopSeconds: hopSeconds(node),
      maxLayers: caps.get(node.nodeId),
      profilingRequired,
    });
  }
  return settings.fidelity === Fidelity.FIDELITY_EXACT
    ? withOneBuild({ nodes, obstacles }, pool, settings)
    : { nodes, obstacles };
}

function exclusionOf({ name }: PoolNode): NodeObstacle {
  return { reason: 'excluded', message: `node "${name}" is excluded by the request` };
}

/** An EXACT run needs one engine build: of those that there are, the one whose nodes can give most together. */
function withOneBuild({ nodes, obstacles }: AutomaticPool, pool: readonly PoolNode[], { engine }: StageSettings) {
  const builds = new Map(pool.map((node) => [node.nodeId as bigint, buildOf(node, engine)]));
  const memory = new Map<string, number>();
  for (const { nodeId, usable } of nodes) {
    const build = builds.get(nodeId)!;
    memory.set(build, (memory.get(build) ?? 0) + Math.max(0, usable));
  }
  const [best = ''] = [...memory].sort((a, b) => b[1] - a[1])[0] ?? [];
  const others = nodes.filter(({ nodeId }) => builds.get(nodeId) !== best);
  const reasons = others.map(({ nodeId, name }): [bigint, NodeObstacle] => {
    const message = `node "${name}" runs build ${builds.get(nodeId)} of engine "${engine}", and an exact run needs one build, here ${best}: install that one there, or ask for fast`;
    return [nodeId, { reason: 'other-build', message }];
  });
  return {
    nodes: nodes.filter(({ nodeId }) => builds.get(nodeId) === best),
    obstacles: new Map([...obstacles, ...reasons]),
  };
}

function buildOf({ engines }: PoolNode, engine: string): string {
  return engines.find(({ name }) => name === engine)?.build ?? '';
}
