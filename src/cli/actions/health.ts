import {
  HealthClient,
  HealthCheckResponse_ServingStatus as Serving,
  HealthService as service,
} from '../../../gen/grpc/health/v1/health.js';
import { readIdentity } from '../../agent/identity.js';
import { lockState } from '../../doctor/lock-state.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { HealthValues } from '../commands/health.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import type { Failure } from '../failure.js';
import type { Output } from '../output.js';
import { withService } from '../with-orchestrator.js';

export function health({ values, output }: Invocation<HealthValues>): Promise<ExitCode> {
  return values.role === 'agent' ? agentHealth(values, output) : orchestratorHealth(values, output);
}

function orchestratorHealth(values: HealthValues, output: Output): Promise<ExitCode> {
  const ask = async (client: HealthClient) => {
    const { status } = await unaryCall(client, service.check, { service: '' });
    if (status === Serving.SERVING) return well(output, `the orchestrator at ${values.orchestrator} serves`);
    return output.fail(unwell(`the orchestrator at ${values.orchestrator} starts or stops: ask again in a moment`));
  };
  return withService(HealthClient, output, values, ask);
}

/** One that is out of contact is well: its stages go on, and whoever started it anew for that would end them. */
async function agentHealth({ data = defaultDataFolder('agent') }: HealthValues, output: Output): Promise<ExitCode> {
  const kept = readIdentity(data);
  if (lockState(data).kind === 'free') {
    return output.fail(unwell(`no agent runs on ${data}: start it, or name its folder by --data`));
  }
  if (kept.kind !== 'loaded' || kept.identity.nodeId === 0n) {
    return output.fail(
      unwell(`the agent on ${data} has joined no orchestrator yet: see its log, or ask again in a moment`),
    );
  }
  return well(output, `node ${kept.identity.nodeId} runs on ${data}`);
}

function well(output: Output, sentence: string): ExitCode {
  if (output.json) output.document({ healthy: true });
  else output.print(sentence);
  return exitCode.ok;
}

function unwell(message: string): Failure {
  return { exitCode: exitCode.failure, code: 'UNAVAILABLE', reason: 'NOT_SERVING', message, violations: [] };
}
