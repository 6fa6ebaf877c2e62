import type { Node } from '../../../gen/stageplane/v1/node.js';
import {
  PlanRunResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import { unaryCall } from '../../grpc/client.js';
import { listNodes } from '../../launcher/list-all.js';
import { buildPlanRequest } from '../build-plan-request.js';
import type { Invocation } from '../command.js';
import type { PlanValues } from '../commands/plan.js';
import { readPoolFile } from '../config/pool-file.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { planView } from '../format/plan-view.js';
import { planLocally } from '../plan-locally.js';
import { knownModel, type PlannedModel, readModel } from '../planned-model.js';
import { rejectionFailure } from '../rejection-failure.js';
import { usageFailure } from '../usage-failure.js';
import { withOrchestrator } from '../with-orchestrator.js';

type Planner = (request: PlanRequest) => Promise<PlanRunResponse> | PlanRunResponse;

/** Whoever is asked: the orchestrator, about its own nodes; or nobody, where the model or the nodes are only described. */
export async function plan(invocation: Invocation<PlanValues>): Promise<ExitCode> {
  const { values, output } = invocation;
  const { file, model: reference, nodes: poolFile } = values;
  if (poolFile === undefined && reference === undefined) {
    return withOrchestrator(output, values.orchestrator, async (client) =>
      showPlan(invocation, await listNodes(client), (request) => unaryCall(client, service.planRun, { plan: request })),
    );
  }
  const found = reference === undefined ? await readModel(file!) : knownModel(reference);
  const field = reference === undefined ? '<file>' : '--model';
  if (found.kind === 'refused') return output.fail(usageFailure([{ field, message: found.message }]));
  const { model } = found;
  if (poolFile !== undefined) {
    const pool = await readPoolFile(poolFile);
    return pool.kind === 'refused'
      ? output.fail(usageFailure(pool.problems))
      : showPlan(invocation, pool.nodes, localPlanner(model, pool.nodes));
  }
  return withOrchestrator(output, values.orchestrator, async (client) => {
    const nodes = await listNodes(client);
    return showPlan(invocation, nodes, localPlanner(model, nodes));
  });
}

function localPlanner(model: PlannedModel, nodes: readonly Node[]): Planner {
  return (request) => planLocally(request, model, nodes);
}

async function showPlan(
  { values, output }: Invocation<PlanValues>,
  nodes: readonly Node[],
  ask: Planner,
): Promise<ExitCode> {
  const built = buildPlanRequest({ ...values, file: values.file ?? values.model ?? '' }, nodes);
  if (built.kind === 'refused') return output.fail(usageFailure(built.problems));
  const answer = await ask(built.request);
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
