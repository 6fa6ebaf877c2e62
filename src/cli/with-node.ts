import type { Node } from '../../gen/stageplane/v1/node.js';
import type { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import { listNodes } from '../launcher/list-all.js';
import type { Invocation } from './command.js';
import type { OneNodeValues } from './commands/one-node.js';
import type { ExitCode } from './exit-code.js';
import { findNode } from './find-node.js';
import { unknownNodeFailure } from './unknown-node-failure.js';
import { withOrchestrator } from './with-orchestrator.js';

/** Runs a command about the node that was named, by name or id. */
export function withNode(
  { values, output }: Invocation<OneNodeValues>,
  command: (client: OrchestratorServiceClient, node: Node) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const found = findNode(await listNodes(client), values.node);
    return found.kind === 'found' ? command(client, found.node) : output.fail(unknownNodeFailure(found.message));
  });
}
