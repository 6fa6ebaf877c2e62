import { type Node, NodeConditionType as Type } from '../../gen/stageplane/v1/node.js';
import { nodeId } from '../core/ids.js';
import type { NodeObstacle, PoolNode } from '../core/planner/pool-node.js';

/**
 * Nodes as a planner sees them, from what is told of them. What their live stages were promised but have not loaded yet
 * is not counted: a node that is just loading a model seems emptier than it is.
 */
export function poolOfNodes(nodes: readonly Node[]): PoolNode[] {
  return [...nodes].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)).map(poolNode);
}

function poolNode(node: Node): PoolNode {
  const { descriptor } = node;
  const obstacle = obstacleOf(node);
  return {
    nodeId: nodeId(node.nodeId),
    name: node.name,
    engines: node.engines,
    physicalCores: descriptor?.physicalCores ?? 0,
    reservedThreads: [],
    devices: (descriptor?.devices ?? []).map((device) => ({ ...device, stages: [] })),
    labels: descriptor?.labels ?? {},
    ...(obstacle && { obstacle }),
  };
}

function obstacleOf({ name, conditions }: Node): NodeObstacle | undefined {
  const condition = (wanted: Type) => conditions.find(({ type }) => type === wanted);
  const schedulable = condition(Type.NODE_CONDITION_TYPE_SCHEDULABLE);
  if (schedulable?.met) return undefined;
  const reason = condition(Type.NODE_CONDITION_TYPE_CORDONED)?.met
    ? 'cordoned'
    : condition(Type.NODE_CONDITION_TYPE_LOST)?.met
      ? 'lost'
      : condition(Type.NODE_CONDITION_TYPE_RECONCILED)?.met
        ? 'full'
        : 'not-connected';
  return {
    reason,
    message: schedulable?.message || `node "${name}" takes no stage: see \`stageplane nodes get ${name}\``,
  };
}
