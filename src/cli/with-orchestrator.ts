import { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RpcError } from '../grpc/rpc-error.js';
import { certificateFailure } from './certificate-failure.js';
import type { ExitCode } from './exit-code.js';
import { openClient } from './open-client.js';
import type { Output } from './output.js';
import { rpcFailure } from './rpc-failure.js';

/** Runs a command against an orchestrator; a call that fails ends it with a sentence. */
export async function withOrchestrator(
  output: Output,
  address: string,
  command: (client: OrchestratorServiceClient) => Promise<ExitCode>,
): Promise<ExitCode> {
  let client: OrchestratorServiceClient | undefined;
  try {
    client = openClient(address, OrchestratorServiceClient);
    return await command(client);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return output.fail((await certificateFailure(error, address)) ?? rpcFailure(error, address));
  } finally {
    client?.close();
  }
}
