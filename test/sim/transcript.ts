import type { SubscribeRequest, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';

type Message = SubscribeRequest['message'] | SubscribeResponse['message'];

/** One message of a session in a few words. */
export function wordsOf(message: Message): string {
  switch (message?.$case) {
    case 'hello': {
      const { name, instanceId, processId, highestEpoch, held } = message.value;
      const stages = held.map(
        ({ runId, stageIndex, generation, phase }) => `${runId}/${stageIndex} g${generation} ${phase}`,
      );
      return `hello ${name}, ${instanceId}, ${processId}, epoch ${highestEpoch}, holds [${stages.join(', ')}]`;
    }
    case 'welcome':
      return `welcome, node ${message.value.nodeId}, epoch ${message.value.epoch}`;
    case 'provision': {
      const { deliveryId, generation, epoch, stages } = message.value;
      const which = stages.map(({ provision }) => `${provision?.runId}/${provision?.stageIndex}`).join(', ');
      return `provision ${deliveryId}: ${which} g${generation}, epoch ${epoch}`;
    }
    case 'stop': {
      const { deliveryId, runId, stageIndex, generation, reason } = message.value;
      return `stop ${deliveryId}: ${runId}/${stageIndex} g${generation} (${reason})`;
    }
    case 'report': {
      const { reportId, runId, stageIndex, generation, report } = message.value;
      return `report ${reportId}: ${runId}/${stageIndex} g${generation} ${report?.$case}`;
    }
    case 'ack':
    case 'nack':
      return `${message.$case} ${message.value.deliveryId}`;
    case 'reportAck':
      return `report-ack ${message.value.reportIds.join(', ')}`;
    case 'heartbeat':
    case 'heartbeatAck':
      return `${message.$case} ${message.value.sequence}`;
    default:
      return message?.$case ?? 'nothing';
  }
}
