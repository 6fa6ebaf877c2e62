import type { Gauge, Registry } from 'prom-client';
import type { Draft } from '../../core/machine/draft.js';
import { measuredDevices, obstacleOf } from '../../core/machine/pool.js';
import type { NodeState } from '../../core/machine/state.js';
import { newGauge } from './families.js';
import type { Census } from './world-census.js';

/** Why a node takes no new stage, or that it does. */
const nodeStates = ['schedulable', 'full', 'cordoned', 'draining', 'not-connected', 'lost'];

/** The pool: what each node is, and what is left on it. */
export class NodeMetrics {
  private readonly nodes: Gauge<string>;
  private readonly state: Gauge<string>;
  private readonly stages: Gauge<string>;
  private readonly contact: Gauge<string>;
  private readonly capacity: Gauge<string>;
  private readonly free: Gauge<string>;
  private readonly used: Gauge<string>;
  private readonly reserved: Gauge<string>;
  private readonly resident: Gauge<string>;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string, ...labels: string[]) => newGauge(registry, name, help, labels);
    this.nodes = gauge('stageplane_nodes', 'Nodes by state.', 'state');
    this.state = gauge('stageplane_node_state', 'The state of a node, which is 1.', 'node_id', 'node', 'state');
    this.stages = gauge('stageplane_node_stages', 'Stages on a node that are not STOPPED.', 'node');
    const contact = 'When a node was last heard of, in seconds since 1970.';
    this.contact = gauge('stageplane_node_last_contact_timestamp_seconds', contact, 'node');
    const device = (what: string, help: string) =>
      gauge(`stageplane_device_${what}_bytes`, `${help} of a device, in bytes.`, 'node', 'device');
    this.capacity = device('capacity', 'Memory');
    this.free = device('free', 'Free memory, as its node has measured it,');
    this.used = device('used', 'Used memory, by whomever, as its node has measured it,');
    this.reserved = device('reserved', 'What stages have reserved');
    this.resident = device('stages_resident', 'What ready stages hold, as their node has measured it,');
  }

  look(draft: Draft, census: Census): void {
    // Nodes and their devices may be gone.
    const perNode = [this.state, this.stages, this.contact, this.capacity, this.free, this.used, this.reserved];
    for (const gauge of [...perNode, this.resident]) gauge.reset();
    const byState = new Map(nodeStates.map((state) => [state, 0]));
    for (const id of draft.allNodeIds()) {
      const node = draft.node(id);
      if (!node) continue;
      const state = this.lookAt(draft, census, node);
      byState.set(state, (byState.get(state) ?? 0) + 1);
    }
    for (const [state, count] of byState) this.nodes.set({ state: state.replace('-', '_') }, count);
  }

  private lookAt(draft: Draft, census: Census, node: NodeState): string {
    const { nodeId, name } = node;
    const held = census.stagesOfNode.get(nodeId) ?? 0;
    const state = obstacleOf(draft, node, held)?.reason ?? 'schedulable';
    this.state.set({ node_id: String(nodeId), node: name, state: state.replace('-', '_') }, 1);
    this.stages.set({ node: name }, held);
    const heard = draft.contact(nodeId)?.lastHeardWall;
    if (heard !== undefined) this.contact.set({ node: name }, heard / 1000);
    for (const { deviceId, totalBytes, freeBytes } of measuredDevices(draft, node)) {
      const labels = { node: name, device: deviceId };
      const stages = census.heldOf.get(nodeId)?.get(deviceId);
      this.reserved.set(labels, Number(stages?.reserved ?? 0n));
      this.resident.set(labels, Number(stages?.resident ?? 0n));
      // Unknown is not none.
      if (totalBytes === 0n) continue;
      this.capacity.set(labels, Number(totalBytes));
      this.free.set(labels, Number(freeBytes));
      this.used.set(labels, Number(totalBytes > freeBytes ? totalBytes - freeBytes : 0n));
    }
    return state;
  }
}
