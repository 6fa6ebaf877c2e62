import { OrchestratorServiceService as service } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneNodeValues } from '../commands/one-node.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import { withNode } from '../with-node.js';

export function nodesDelete(invocation: Invocation<OneNodeValues>): Promise<ExitCode> {
  const { output } = invocation;
  return withNode(invocation, async (client, { nodeId, name }) => {
    await unaryCall(client, service.deleteNode, { nodeId });
    if (output.json) output.document({ deletedNodeId: String(nodeId) });
    else output.print(`${escapeControls(name)} (${nodeId}) is forgotten, and what its stages reserved is free`);
    return exitCode.ok;
  });
}
