import type { Draft } from '../../core/machine/draft.js';
import { measuredDevices, obstacleOf } from '../../core/machine/pool.js';
import type { NodeState } from '../../core/machine/state.js';
import { GaugeText, labelText } from './gauge-text.js';
import type { Census } from './world-census.js';

/** Why a node takes no new stage, or that it does. */
const nodeStates = ['schedulable', 'full', 'cordoned', 'draining', 'not-connected', 'lost'];

/** The pool: what each node is, and what is left on it. */
export class NodeMetrics {
  private readonly nodes = new GaugeText('stageplane_nodes', 'Nodes by state.');
  private readonly state = new GaugeText('stageplane_node_state', 'The state of a node, which is 1.');
  private readonly stages = new GaugeText('stageplane_node_stages', 'Stages on a node that are not STOPPED.');
  private readonly contact = new GaugeText(
    'stageplane_node_last_contact_timestamp_seconds',
    'When a node was last heard of, in seconds since 1970.',
  );
  private readonly capacity = new GaugeText('stageplane_device_capacity_bytes', 'Memory of a device.');
  private readonly free = new GaugeText(
    'stageplane_device_free_bytes',
    'Free memory of a device, as its node has measured it.',
  );
  private readonly used = new GaugeText(
    'stageplane_device_used_bytes',
    'Memory of a device that is used by whomever, as its node has measured it.',
  );
  private readonly reserved = new GaugeText(
    'stageplane_device_reserved_bytes',
    'What stages have reserved on a device.',
  );
  private readonly resident = new GaugeText(
    'stageplane_device_stages_resident_bytes',
    'What ready stages hold on a device, as its node has measured it.',
  );

  text(draft: Draft, census: Census): string {
    const byState = new Map(nodeStates.map((state) => [state, 0]));
    for (const id of draft.allNodeIds()) {
      const node = draft.node(id);
      if (!node) continue;
      const state = this.lookAt(draft, census, node);
      byState.set(state, (byState.get(state) ?? 0) + 1);
    }
    for (const [state, count] of byState) this.nodes.add(labelText({ state: labelOf(state) }), count);
    const ofNodes = [this.nodes, this.state, this.stages, this.contact];
    const ofDevices = [this.capacity, this.free, this.used, this.reserved, this.resident];
    return [...ofNodes, ...ofDevices].map((family) => family.take()).join('\n');
  }

  private lookAt(draft: Draft, census: Census, node: NodeState): string {
    const { nodeId, name } = node;
    const held = census.stagesOfNode.get(nodeId) ?? 0;
    const state = obstacleOf(draft, node, held)?.reason ?? 'schedulable';
    this.state.add(labelText({ node_id: String(nodeId), node: name, state: labelOf(state) }), 1);
    const labels = labelText({ node: name });
    this.stages.add(labels, held);
    const heard = draft.contact(nodeId)?.lastHeardWall;
    if (heard !== undefined) this.contact.add(labels, heard / 1000);
    this.lookAtDevices(draft, census, node);
    return state;
  }

  private lookAtDevices(draft: Draft, census: Census, node: NodeState): void {
    for (const { deviceId, totalBytes, freeBytes } of measuredDevices(draft, node)) {
      const labels = labelText({ node: node.name, device: deviceId });
      const stages = census.heldOf.get(node.nodeId)?.get(deviceId);
      this.reserved.add(labels, Number(stages?.reserved ?? 0n));
      this.resident.add(labels, Number(stages?.resident ?? 0n));
      // Unknown is not none.
      if (totalBytes === 0n) continue;
      this.capacity.add(labels, Number(totalBytes));
      this.free.add(labels, Number(freeBytes));
      this.used.add(labels, Number(totalBytes > freeBytes ? totalBytes - freeBytes : 0n));
    }
  }
}

function labelOf(state: string): string {
  return state.replaceAll('-', '_');
}
