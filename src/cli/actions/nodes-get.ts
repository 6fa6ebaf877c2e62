import {
  GetNodeResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneNodeValues } from '../commands/one-node.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { nodeDetails } from '../format/node-details.js';
import { withNode } from '../with-node.js';

export function nodesGet(invocation: Invocation<OneNodeValues>): Promise<ExitCode> {
  const { output } = invocation;
  return withNode(invocation, async (client, { nodeId }) => {
    const answer = await unaryCall(client, service.getNode, { nodeId });
    if (output.json) output.document(GetNodeResponse.toJSON(answer));
    else if (answer.node) output.print(nodeDetails(answer.node, new Date()));
    return exitCode.ok;
  });
}
