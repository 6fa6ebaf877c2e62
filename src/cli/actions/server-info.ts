import { GetServerInfoResponse, AdminServiceService as service } from '../../../gen/stageplane/v1/admin_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { serverView } from '../format/server-view.js';
import { withAdmin } from '../with-admin.js';

export function serverInfo({ values, output }: Invocation<{ readonly data: string }>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const info = await unaryCall(client, service.getServerInfo, {});
    if (output.json) output.document(GetServerInfoResponse.toJSON(info));
    else output.print(serverView(info, new Date()));
    return exitCode.ok;
  });
}
