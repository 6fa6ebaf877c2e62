import { SetLogLevelResponse, AdminServiceService as service } from '../../../gen/stageplane/v1/admin_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { LogLevelValues } from '../commands/audit.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { withAdmin } from '../with-admin.js';

export function logLevel({ values, output }: Invocation<LogLevelValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const done = await unaryCall(client, service.setLogLevel, { level: values.level });
    if (output.json) output.document(SetLogLevelResponse.toJSON(done));
    else output.print(`the orchestrator logs ${values.level} and above, until it ends`);
    return exitCode.ok;
  });
}
