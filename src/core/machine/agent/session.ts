import type { Welcome } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { millis } from '../../ids.js';
import { AGENT_PROTOCOL } from '../../protocols.js';
import type { NodeOffer } from './events.js';
import { inventoryOf } from './inventory.js';
import { renewLease } from './lease.js';
import { reportAgain } from './reports.js';
import type { Turn } from './turn.js';

/** Hello is the first message of a session, with everything that the agent holds. */
export function streamOpened(turn: Turn, session: number, offer: NodeOffer): void {
  const { engines, descriptor } = offer;
  const contact = { kind: 'greeted', session, helloAt: turn.at } as const;
  turn.change({ contact, engines, physicalCores: descriptor.physicalCores });
  const { identity } = turn.state;
  const value = {
    name: turn.rules.name,
    instanceId: identity.instanceId,
    processId: turn.rules.processId,
    clusterId: identity.clusterId,
    highestEpoch: identity.highestEpoch,
    protocolMin: AGENT_PROTOCOL,
    protocolMax: AGENT_PROTOCOL,
    engines: [...offer.engines],
    descriptor: offer.descriptor,
    held: inventoryOf(turn.state),
    pinnedNodeId: turn.rules.pinnedNodeId,
  };
  turn.perform({ kind: 'send', session, message: { message: { $case: 'hello', value } } });
}

/** The agent is admitted. Who it is now is on disk before anything else is said. */
export function welcomed(turn: Turn, session: number, welcome: Welcome): void {
  const { contact, identity } = turn.state;
  if (contact.kind !== 'greeted' || contact.session !== session) {
    turn.ignore();
    return;
  }
  const why = refuseWelcome(turn, welcome);
  if (why !== undefined) {
    turn.perform({ kind: 'close-session', session, why });
    return;
  }
  const { clusterId, nodeId, epoch } = welcome;
  if (clusterId !== identity.clusterId || nodeId !== identity.nodeId || epoch !== identity.highestEpoch) {
    const known = { ...identity, clusterId, nodeId, highestEpoch: epoch };
    turn.change({ identity: known });
    turn.perform({ kind: 'persist-identity', identity: known });
  }
  const heartbeatPeriod = welcome.heartbeatPeriodMillis;
  turn.change({ contact: { kind: 'joined', session, heartbeatPeriod, unanswered: [], nextSequence: 1n } });
  turn.say('info', 'joined', { clusterId, nodeId, epoch, session: welcome.sessionId });
  renewLease(turn, Number(welcome.leaseTtlMillis), contact.helloAt);
  turn.perform({ kind: 'arm', timer: 'heartbeat', at: millis(turn.at) });
  reportAgain(turn);
}

/** A stream's end means nothing by itself: the workers go on until the lease is over. */
export function streamEnded(turn: Turn, session: number): void {
  const { contact } = turn.state;
  if (contact.kind === 'apart' || contact.session !== session) return;
  turn.change({ contact: { kind: 'apart' } });
}

function refuseWelcome(turn: Turn, welcome: Welcome): string | undefined {
  const { clusterId, highestEpoch } = turn.state.identity;
  if (welcome.protocol !== AGENT_PROTOCOL) {
    return `the orchestrator speaks protocol ${welcome.protocol}, this agent ${AGENT_PROTOCOL}: install matching versions`;
  }
  if (clusterId !== '' && welcome.clusterId !== clusterId) {
    return `this agent belongs to cluster ${clusterId}, the orchestrator is of ${welcome.clusterId}: start the agent with --rejoin to move it`;
  }
  if (welcome.epoch < highestEpoch) {
    return `the orchestrator is of epoch ${welcome.epoch}, this agent has seen ${highestEpoch}: a newer orchestrator is in charge`;
  }
  if (welcome.nodeId < 2n || welcome.clusterId === '' || welcome.heartbeatPeriodMillis === 0) {
    return 'the Welcome lacks a cluster, a node id above 1 or a heartbeat period: report this as a defect of the orchestrator';
  }
  return undefined;
}
