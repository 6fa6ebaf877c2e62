import { OrchestratorServiceService as service } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { Run } from '../../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneRunValues } from '../commands/one-run.js';
import type { ExitCode } from '../exit-code.js';
import { watchOnly } from '../watch-only.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function runsWatch({ values, output }: Invocation<OneRunValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const { run } = await unaryCall(client, service.getRun, { runId: values.id });
    return watchOnly({ client, output, run: run ?? Run.fromPartial({ runId: values.id }), afterRevision: 0n });
  });
}
