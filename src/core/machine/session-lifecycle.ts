import type { Hello } from '../../../gen/stageplane/v1/node_agent_service.js';
import { millis, type NodeId, nodeId, type SessionId } from '../ids.js';
import { limits } from '../limits.js';
import { isNodeName, nodeNameAdvice } from '../node-name.js';
import { AGENT_PROTOCOL } from '../protocols.js';
import { dispatchTo } from './dispatch.js';
import type { Draft } from './draft.js';
import type { SessionRefusal } from './effects.js';
import type { ClusterEvent } from './events.js';
import { startGrace } from './grace.js';
import { reconcile } from './reconcile.js';
import { refuseOtherThan } from './refuse-other-than.js';
import { takeUsage } from './stage-usage.js';
import type { NodeState } from './state.js';
import { lostEpoch, stepOver } from './step-over.js';
import { takeNodeId } from './take-node-id.js';

type Heartbeat = Extract<ClusterEvent, { kind: 'heartbeat-received' }>;

/**
 * Admits an agent: who it is, what it holds, what it must still be told (`Hello` in node_agent_service.proto).
 *
 * @param enrolled the node of its certificate; absent where nobody has one
 */
export function receiveHello(draft: Draft, session: SessionId, hello: Hello, enrolled?: NodeId): void {
  const known = draft.nodeByInstance(hello.instanceId);
  const stranger = enrolled === undefined ? undefined : refuseOtherThan(draft, enrolled, hello);
  const refusal = stranger ?? refuseHello(draft, hello, known) ?? refuseClone(draft, hello, known);
  if (refusal) {
    draft.perform({ kind: 'close-session', session, why: refusal });
    return;
  }
  stepOverLost(draft, hello, known);
  const node = admitNode(draft, hello, known);
  openSession(draft, session, hello, node.nodeId);
  reconcile(draft, node.nodeId, session, hello.held);
  dispatchTo(draft, node.nodeId);
  draft.send(session, { $case: 'reconciled', value: {} });
}

/** A restored copy must not act under an epoch that its agents have left behind, nor give an id that they know (I3, I5). */
function stepOverLost(draft: Draft, hello: Hello, known: NodeState | undefined): void {
  const everWelcomed = known !== undefined && draft.contact(known.nodeId)?.lastHeardWall !== undefined;
  const epoch = lostEpoch(draft.cluster, hello, known, everWelcomed);
  if (epoch === undefined) return;
  draft.cluster = stepOver(draft.cluster, epoch);
  const message = 'an agent knows more than the store, which is an older copy; epoch and ids step over what was lost';
  draft.say('warn', message, { nodeName: hello.name, epoch, nextRunId: draft.cluster.nextRunId });
}

/** A stream's end means nothing by itself; only a goodbye is intent. */
export function endSession(draft: Draft, session: SessionId, goodbye: boolean): void {
  const state = draft.session(session);
  if (!state) return;
  draft.endSession(session);
  const contact = draft.contact(state.nodeId);
  if (contact?.session !== session) return;
  if (goodbye) reconcile(draft, state.nodeId, session, []);
  startGrace(draft, state.nodeId, draft.rules.timings.grace);
}

/** A sign of life. Also a Heartbeat is answered only after the turn that took it in. */
export function receiveHeartbeat(draft: Draft, heartbeat: Heartbeat): void {
  const { session, sequence, usage } = heartbeat;
  const state = draft.session(session);
  const contact = state && draft.contact(state.nodeId);
  if (!state || !contact) {
    draft.ignored['old-session'] += 1;
    return;
  }
  draft.putContact(state.nodeId, {
    ...contact,
    usage,
    lastHeard: draft.now,
    lastHeardWall: draft.wall,
  });
  takeUsage(draft, state.nodeId, heartbeat.stages);
  draft.send(session, { $case: 'heartbeatAck', value: { sequence } });
}

function refuseHello(draft: Draft, hello: Hello, known: NodeState | undefined): SessionRefusal | undefined {
  const refuse = (code: SessionRefusal['code'], reason: string, message: string) => ({ code, reason, message });
  if (hello.protocolMin > AGENT_PROTOCOL || hello.protocolMax < AGENT_PROTOCOL) {
    const spoken = `${hello.protocolMin} to ${hello.protocolMax}`;
    return refuse(
      'FAILED_PRECONDITION',
      'PROTOCOL_MISMATCH',
      `agent "${hello.name}" speaks protocol ${spoken}, this orchestrator ${AGENT_PROTOCOL}: install matching versions`,
    );
  }
  if (!isNodeName(hello.name)) {
    return refuse('FAILED_PRECONDITION', 'INVALID_NAME', `"${hello.name}" is no node name; ${nodeNameAdvice}`);
  }
  if (hello.clusterId !== '' && hello.clusterId !== draft.cluster.clusterId) {
    return refuse(
      'FAILED_PRECONDITION',
      'FOREIGN_CLUSTER',
      `agent "${hello.name}" belongs to cluster ${hello.clusterId}, this is ${draft.cluster.clusterId}: start it with --rejoin to move it here`,
    );
  }
  if (hello.highestEpoch >= limits.claimedEpoch) {
    return refuse(
      'FAILED_PRECONDITION',
      'EPOCH_OUT_OF_RANGE',
      `agent "${hello.name}" claims epoch ${hello.highestEpoch}, which no orchestrator reaches: start it with --rejoin`,
    );
  }
  const holder = draft.nodeByName(hello.name);
  if (holder && holder.nodeId !== known?.nodeId) {
    return refuse(
      'ALREADY_EXISTS',
      'NAME_TAKEN',
      `the name "${hello.name}" belongs to node ${holder.nodeId}: start this agent with another --name`,
    );
  }
  return refusePin(draft, hello, known);
}

function refusePin(draft: Draft, hello: Hello, known: NodeState | undefined): SessionRefusal | undefined {
  const pin = hello.pinnedNodeId;
  const { goneNodeId, nextNodeId } = draft.cluster;
  const problem = known
    ? pin !== 0n && pin !== known.nodeId && `agent "${hello.name}" already is node ${known.nodeId}, not ${pin}`
    : pin === 1n
      ? 'node id 1 is the orchestrator itself'
      : pin !== 0n && draft.node(nodeId(pin))
        ? `node id ${pin} belongs to another agent`
        : pin !== 0n && pin <= goneNodeId && `node id ${pin} may have been that of a node that is gone`;
  if (problem) {
    return {
      code: 'ALREADY_EXISTS',
      reason: 'NODE_ID_TAKEN',
      message: `${problem}: leave out --node-id, or name one from ${nextNodeId} on`,
    };
  }
  if (pin >= limits.claimedCounter) {
    return {
      code: 'FAILED_PRECONDITION',
      reason: 'NODE_ID_OUT_OF_RANGE',
      message: `--node-id ${pin} is too large: name one below 2^62`,
    };
  }
  if (!known && draft.nodeCount() >= limits.nodes) {
    return {
      code: 'RESOURCE_EXHAUSTED',
      reason: 'TOO_MANY_NODES',
      message: `the pool already has ${limits.nodes} nodes: delete one that is gone before "${hello.name}" joins`,
    };
  }
  return undefined;
}

/** Two processes with one identity: the one that was heard of last stays. */
function refuseClone(draft: Draft, hello: Hello, known: NodeState | undefined): SessionRefusal | undefined {
  const contact = known && draft.contact(known.nodeId);
  if (!known || contact?.session === undefined || contact.processId === hello.processId) return undefined;
  if (draft.now - contact.lastHeard > 2 * draft.rules.timings.heartbeat) return undefined;
  return {
    code: 'ALREADY_EXISTS',
    reason: 'INSTANCE_IN_USE',
    message: `node "${known.name}" is connected from another process: give this agent a data folder of its own with --data, or stop the other one`,
  };
}

function admitNode(draft: Draft, hello: Hello, known: NodeState | undefined): NodeState {
  const id = known?.nodeId ?? takeNodeId(draft, hello.pinnedNodeId);
  draft.putNode({
    nodeId: id,
    name: hello.name,
    instanceId: hello.instanceId,
    cordoned: known?.cordoned ?? false,
    drainUntil: known?.drainUntil,
    descriptor: hello.descriptor!,
    engines: hello.engines,
    createdAt: known?.createdAt ?? draft.wall,
    revision: draft.cluster.revision,
  });
  return draft.node(id)!;
}

function openSession(draft: Draft, session: SessionId, hello: Hello, id: NodeId): void {
  const before = draft.contact(id);
  if (before?.session !== undefined) {
    draft.endSession(before.session);
    const message = `agent "${hello.name}" has opened a newer session`;
    draft.perform({
      kind: 'close-session',
      session: before.session,
      why: { code: 'ABORTED', reason: 'SESSION_REPLACED', message },
    });
  }
  draft.putSession({
    session,
    nodeId: id,
    nextDeliveryId: 1n,
    unanswered: new Map(),
    ending: [],
  });
  draft.putContact(id, {
    session,
    processId: hello.processId,
    lastHeard: draft.now,
    lastHeardWall: draft.wall,
    reconciledAt: millis(draft.now),
    graceExtended: false,
    lost: false,
    usage: [],
  });
  const value = {
    clusterId: draft.cluster.clusterId,
    nodeId: id,
    sessionId: session,
    epoch: draft.cluster.epoch,
    heartbeatPeriodMillis: draft.rules.timings.heartbeat,
    leaseTtlMillis: BigInt(draft.rules.timings.lease),
    protocol: AGENT_PROTOCOL,
  };
  draft.send(session, { $case: 'welcome', value });
}
