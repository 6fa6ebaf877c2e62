import { OrchestratorServiceService as service } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import { RpcError } from '../../grpc/rpc-error.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { rpcFailure } from '../rpc-failure.js';
import { withOrchestrator } from '../with-orchestrator.js';

interface DeleteValues {
  readonly ids: readonly bigint[];
  readonly orchestrator: string;
}

/** Tries every run, whatever became of the others; the first failure gives the exit code. */
export function runsDelete({ values, output }: Invocation<DeleteValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const deleted: bigint[] = [];
    let worst: ExitCode = exitCode.ok;
    for (const runId of values.ids) {
      try {
        await unaryCall(client, service.deleteRun, { runId });
        deleted.push(runId);
        if (!output.json) output.print(`deleted run ${runId}`);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        const code = output.fail(rpcFailure(error, values.orchestrator));
        if (worst === exitCode.ok) worst = code;
        if (code === exitCode.unreachable) break;
      }
    }
    if (output.json) output.document({ deletedRunIds: deleted.map(String) });
    return worst;
  });
}
