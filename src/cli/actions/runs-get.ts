import {
  GetRunResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneRunValues } from '../commands/one-run.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { runDetails } from '../format/run-details.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function runsGet({ values, output }: Invocation<OneRunValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const answer = await unaryCall(client, service.getRun, { runId: values.id });
    if (output.json) output.document(GetRunResponse.toJSON(answer));
    else if (answer.run) output.print(runDetails(answer.run, new Date()));
    return exitCode.ok;
  });
}
