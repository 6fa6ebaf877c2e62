import type { Node } from '../../gen/stageplane/v1/node.js';
import {
  AutomaticPlacement,
  type NodeLayerCap,
  PlacementObjective as Objective,
  PlacementConstraints,
} from '../../gen/stageplane/v1/planner.js';
import type { PlacementValues } from './commands/placement-settings.js';
import type { LayerCap } from './config/placement-readers.js';
import type { Violation } from './failure.js';
import { findNode } from './find-node.js';
import { escapeControls } from './format/escape.js';

const objectives = {
  fastest: Objective.PLACEMENT_OBJECTIVE_FASTEST,
  throughput: Objective.PLACEMENT_OBJECTIVE_THROUGHPUT,
  'fewest-nodes': Objective.PLACEMENT_OBJECTIVE_FEWEST_NODES,
  balanced: Objective.PLACEMENT_OBJECTIVE_BALANCED,
};

/** What the flags ask of a placement that the orchestrator chooses, with names as ids; problems when a name is unknown. */
export function automaticPlacement(values: PlacementValues, nodes: readonly Node[]) {
  const problems: Violation[] = [];
  const idOf = (field: string, name: string): bigint[] => {
    const found = findNode(nodes, name);
    if (found.kind === 'found') return [found.node.nodeId];
    problems.push({ field, message: found.message });
    return [];
  };
  const idsOfCap = (cap: LayerCap): readonly bigint[] => {
    if (cap.kind === 'node') return idOf('--max-layers', cap.node);
    const ids = labelled(nodes, cap.key, cap.value);
    if (ids.length === 0) problems.push({ field: '--max-layers', message: noSuchLabel(cap.key, cap.value) });
    return ids;
  };
  const caps = values.maxLayers.flat().flatMap((cap) => idsOfCap(cap).map((nodeId) => [nodeId, cap.layers] as const));
  const asked = {
    minStages: values.minStages,
    maxStages: values.maxStages,
    headroomMillis: values.headroom,
    maxMicrosecondsPerToken: values.maxSecondsPerToken,
    allowKvQuantisation: values.allowKvQuantisation,
    layerCaps: leastPerNode(caps),
    excludedNodeIds: [...new Set(values.exclude.flat().flatMap((name) => idOf('--exclude', name)))],
    pins: values.pin
      .flat()
      .flatMap(({ stage, node }) => idOf('--pin', node).map((nodeId) => ({ stageIndex: stage, nodeId }))),
  };
  const placement = AutomaticPlacement.fromPartial({
    objective: values.objective && objectives[values.objective],
    constraints: PlacementConstraints.fromPartial(asked),
  });
  return { problems, placement: { $case: 'automatic', value: placement } as const };
}

function labelled(nodes: readonly Node[], key: string, value: string): bigint[] {
  return nodes.filter(({ descriptor }) => descriptor?.labels[key] === value).map(({ nodeId }) => nodeId);
}

function noSuchLabel(key: string, value: string): string {
  return `no node has the label ${escapeControls(`${key}=${value}`)}; \`stageplane nodes get\` shows a node's labels`;
}

/** A node that is bounded by its name and by a label has the smaller bound. */
function leastPerNode(caps: readonly (readonly [nodeId: bigint, layers: number])[]): NodeLayerCap[] {
  const least = new Map<bigint, number>();
  for (const [nodeId, layers] of caps) least.set(nodeId, Math.min(layers, least.get(nodeId) ?? layers));
  return [...least].map(([nodeId, maxLayers]) => ({ nodeId, maxLayers }));
}
