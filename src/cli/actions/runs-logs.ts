import {
  GetStageLogResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { OneRunValues } from '../commands/one-run.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import { withOrchestrator } from '../with-orchestrator.js';

interface LogValues extends OneRunValues {
  readonly stage: number;
  readonly lines: number | undefined;
}

export function runsLogs({ values, output }: Invocation<LogValues>): Promise<ExitCode> {
  const { id: runId, stage: stageIndex, lines: maxLines = 0 } = values;
  return withOrchestrator(output, values, async (client) => {
    const answer = await unaryCall(client, service.getStageLog, { runId, stageIndex, maxLines });
    if (output.json) output.document({ lines: [], ...(GetStageLogResponse.toJSON(answer) as object) });
    else for (const line of answer.lines) output.print(escapeControls(line));
    const isEmpty = answer.lines.length === 0;
    if (answer.fromFault && isEmpty)
      output.note('NO_LOG', `the agent of stage ${stageIndex} of run ${runId} is away: ask again when it is back`);
    else if (answer.fromFault) output.note('FROM_FAULT', 'the agent is away; these lines travelled with the fault');
    else if (isEmpty) output.note('NO_LOG', `stage ${stageIndex} of run ${runId} has written no log`);
    return exitCode.ok;
  });
}
