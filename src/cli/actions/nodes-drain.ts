import type { Node } from '../../../gen/stageplane/v1/node.js';
import {
  DrainNodeResponse,
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { streamCall } from '../../grpc/client.js';
import { RpcError } from '../../grpc/rpc-error.js';
import type { Invocation } from '../command.js';
import type { DrainValues } from '../commands/nodes.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { drainLines } from '../format/drain-lines.js';
import { escapeControls } from '../format/escape.js';
import { listenForInterrupts } from '../interrupts.js';
import { withNode } from '../with-node.js';

/** The drain is the node's: it goes on when whoever asked for it leaves, and when the orchestrator restarts. */
export function nodesDrain(invocation: Invocation<DrainValues>): Promise<ExitCode> {
  return withNode(invocation, (client, node) => drain(invocation, client, node));
}

async function drain(
  { values, output }: Invocation<DrainValues>,
  client: OrchestratorServiceClient,
  { nodeId, name }: Node,
): Promise<ExitCode> {
  const interrupts = listenForInterrupts();
  const request = { nodeId, deadlineMillis: BigInt(values.deadline) };
  const goesOn = `${name} is being drained; look at it with \`stageplane nodes get ${name}\``;
  try {
    for await (const progress of streamCall(client, service.drainNode, request, { signal: interrupts.first })) {
      if (output.json) output.jsonLine(DrainNodeResponse.toJSON(progress));
      else for (const line of drainLines(progress)) output.print(line);
      if (progress.stagesLeft === 0) return exitCode.ok;
      if (!values.noWait) continue;
      output.note('DRAINING', goesOn);
      return exitCode.ok;
    }
  } catch (error) {
    if (!(error instanceof RpcError) || !interrupts.first.aborted) throw error;
    output.note('DETACHED', goesOn);
    return exitCode.interrupted;
  } finally {
    interrupts.ignore();
  }
  output.print(`${escapeControls(name)} is not drained any more: somebody has uncordoned it`);
  return exitCode.failure;
}
