import {
  type OrchestratorServiceClient,
  PlanRunResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import { listNodes } from '../../launcher/list-all.js';
import { buildPlanRequest } from '../build-plan-request.js';
import type { Invocation } from '../command.js';
import type { PlanValues } from '../commands/plan.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { planView } from '../format/plan-view.js';
import { rejectionFailure } from '../rejection-failure.js';
import { usageFailure } from '../usage-failure.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function plan(invocation: Invocation<PlanValues>): Promise<ExitCode> {
  const { values, output } = invocation;
  return withOrchestrator(output, values.orchestrator, (client) => showPlan(invocation, client));
}

async function showPlan(
  { values, output }: Invocation<PlanValues>,
  client: OrchestratorServiceClient,
): Promise<ExitCode> {
  const nodes = await listNodes(client);
  const built = buildPlanRequest(values, nodes);
  if (built.kind === 'refused') return output.fail(usageFailure(built.problems));
  const answer = await unaryCall(client, service.planRun, { plan: built.request });
  const { outcome, report } = answer;
  if (output.json) output.document(PlanRunResponse.toJSON(answer));
  if (outcome?.$case !== 'plan') {
    // With --json the rejection has been said: it is an answer, not an error.
    if (output.json || !outcome) return exitCode.rejected;
    return output.fail(rejectionFailure(outcome.value, report));
  }
  const names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]));
  const { plan: runPlan, settings } = outcome.value;
  if (!output.json && runPlan) output.print(planView({ plan: runPlan, settings, report, names }));
  return exitCode.ok;
}
