import {
  AdminServiceClient,
  GetServerInfoResponse,
  AdminServiceService as service,
} from '../../../gen/stageplane/v1/admin_service.js';
import { unaryCall } from '../../grpc/client.js';
import { RpcError } from '../../grpc/rpc-error.js';
import { adminSocketOf } from '../../orchestrator/admin-socket.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { serverView } from '../format/server-view.js';
import { openClient } from '../open-client.js';
import { rpcFailure } from '../rpc-failure.js';

export async function serverInfo({ values, output }: Invocation<{ readonly data: string }>): Promise<ExitCode> {
  const socket = adminSocketOf(values.data);
  const client = openClient(`unix:${socket}`, AdminServiceClient);
  try {
    const info = await unaryCall(client, service.getServerInfo, {});
    if (output.json) output.document(GetServerInfoResponse.toJSON(info));
    else output.print(serverView(info, new Date()));
    return exitCode.ok;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return output.fail(rpcFailure(error, socket, 'name its data folder with --data'));
  } finally {
    client.close();
  }
}
