import { RunSummary } from '../../../gen/stageplane/v1/run.js';
import { listRuns } from '../../launcher/list-all.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { runTable } from '../format/run-table.js';
import { withOrchestrator } from '../with-orchestrator.js';

interface ListValues {
  readonly active: boolean;
  readonly orchestrator: string;
}

export function runsList({ values, output }: Invocation<ListValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const runs = await listRuns(client, values.active);
    if (output.json) output.document({ runs: runs.map((run) => RunSummary.toJSON(run)) });
    else output.print(runTable(runs, new Date()));
    return exitCode.ok;
  });
}
