import type { SubscribeRequest } from '../../gen/stageplane/v1/node_agent_service.js';
import type { SessionId } from '../core/ids.js';
import type { ClusterEvent } from '../core/machine/events.js';

/** The event that an agent's message means; undefined for one that this version does not know, which changes nothing. */
export function sessionEvent(session: SessionId, { message }: SubscribeRequest): ClusterEvent | undefined {
  switch (message?.$case) {
    case 'hello':
      return { kind: 'hello-received', session, hello: message.value };
    case 'ack':
      return {
        kind: 'delivery-acked',
        session,
        deliveryId: message.value.deliveryId,
      };
    case 'nack': {
      const { deliveryId, status: fault } = message.value;
      return { kind: 'delivery-refused', session, deliveryId, fault: fault! };
    }
    case 'report':
      return { kind: 'stage-reported', session, report: message.value };
    case 'heartbeat':
      return {
        kind: 'heartbeat-received',
        session,
        sequence: message.value.sequence,
        usage: message.value.devices,
        stages: message.value.stages,
      };
    default:
      return undefined;
  }
}
