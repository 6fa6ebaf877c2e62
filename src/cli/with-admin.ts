import { AdminServiceClient } from '../../gen/stageplane/v1/admin_service.js';
import { RpcError } from '../grpc/rpc-error.js';
import { adminSocketOf } from '../orchestrator/admin-socket.js';
import type { ExitCode } from './exit-code.js';
import { openClient } from './open-client.js';
import type { Output } from './output.js';
import { rpcFailure } from './rpc-failure.js';

/** Runs a command against the admin socket of a data folder; a call that fails ends it with a sentence. */
export async function withAdmin(
  output: Output,
  dataFolder: string,
  command: (client: AdminServiceClient) => Promise<ExitCode>,
): Promise<ExitCode> {
  const socket = adminSocketOf(dataFolder);
  const client = openClient(`unix:${socket}`, AdminServiceClient);
  try {
    return await command(client);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return output.fail(rpcFailure(error, socket, 'run this on its machine, as its user and with its --data'));
  } finally {
    client.close();
  }
}
