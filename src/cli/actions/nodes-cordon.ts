import {
  CordonNodeResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneNodeValues } from '../commands/one-node.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import { withNode } from '../with-node.js';

export function nodesCordon(invocation: Invocation<OneNodeValues>): Promise<ExitCode> {
  const { output } = invocation;
  return withNode(invocation, async (client, { nodeId, name }) => {
    const answer = await unaryCall(client, service.cordonNode, { nodeId });
    if (output.json) output.document(CordonNodeResponse.toJSON(answer));
    else output.print(`${escapeControls(name)} (${nodeId}) takes no new stages`);
    return exitCode.ok;
  });
}
