import { Node } from '../../../gen/stageplane/v1/node.js';
import { listNodes } from '../../launcher/list-all.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { nodeTable } from '../format/node-table.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function nodesList({ values, output }: Invocation<{ readonly orchestrator: string }>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const nodes = await listNodes(client);
    if (output.json) output.document({ nodes: nodes.map((node) => Node.toJSON(node)) });
    else output.print(nodeTable(nodes, new Date()));
    return exitCode.ok;
  });
}
