import {
  StopRunResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneRunValues } from '../commands/one-run.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { label } from '../format/labels.js';
import { watchOnly } from '../watch-only.js';
import { withOrchestrator } from '../with-orchestrator.js';

interface StopValues extends OneRunValues {
  readonly wait: boolean;
}

export function runsStop({ values, output }: Invocation<StopValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const answer = await unaryCall(client, service.stopRun, { runId: values.id });
    const { run } = answer;
    const document = StopRunResponse.toJSON(answer);
    if (output.json && values.wait) output.jsonLine(document);
    else if (output.json) output.document(document);
    if (values.wait && run) return watchOnly({ client, output, run, afterRevision: run.revision });
    if (!output.json && run) output.print(`run ${run.runId} is ${label.runPhase(run.phase)}`);
    return exitCode.ok;
  });
}
