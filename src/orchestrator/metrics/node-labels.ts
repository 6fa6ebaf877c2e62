import type { NodeId } from '../../core/ids.js';
import type { NodeState } from '../../core/machine/state.js';
import { labelText } from './gauge-text.js';

/** The labels of one node's series, written once: there are a dozen series of each node, and they are asked for again and again. */
export interface NodeLabels {
  readonly name: string;
  /** `{node="alpha"}` */
  readonly ofNode: string;
  /** `{node="alpha",device="cpu"}` */
  ofDevice(deviceId: string): string;
  /** `{node_id="2",node="alpha",state="full"}` */
  inState(state: string): string;
}

/** Remembers the labels of the nodes that there were when they were last asked for. */
export class LabelsOfNodes {
  private last = new Map<NodeId, NodeLabels>();
  private next = new Map<NodeId, NodeLabels>();

  of({ nodeId, name }: NodeState): NodeLabels {
    const known = this.last.get(nodeId);
    const labels = known?.name === name ? known : labelsOf(nodeId, name);
    this.next.set(nodeId, labels);
    return labels;
  }

  /** All nodes have been asked for: the others are forgotten. */
  settle(): void {
    this.last = this.next;
    this.next = new Map();
  }
}

function labelsOf(nodeId: NodeId, name: string): NodeLabels {
  return {
    name,
    ofNode: labelText({ node: name }),
    ofDevice: written((device) => labelText({ node: name, device })),
    inState: written((state) => labelText({ node_id: String(nodeId), node: name, state })),
  };
}

function written(write: (value: string) => string): (value: string) => string {
  const texts = new Map<string, string>();
  return (value) => {
    const text = texts.get(value) ?? write(value);
    texts.set(value, text);
    return text;
  };
}
