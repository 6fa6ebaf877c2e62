import {
  OrchestratorServiceService as service,
  UncordonNodeResponse,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneNodeValues } from '../commands/one-node.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import { withNode } from '../with-node.js';

export function nodesUncordon(invocation: Invocation<OneNodeValues>): Promise<ExitCode> {
  const { output } = invocation;
  return withNode(invocation, async (client, { nodeId, name }) => {
    const answer = await unaryCall(client, service.uncordonNode, { nodeId });
    if (output.json) output.document(UncordonNodeResponse.toJSON(answer));
    else output.print(`${escapeControls(name)} (${nodeId}) takes new stages again`);
    return exitCode.ok;
  });
}
