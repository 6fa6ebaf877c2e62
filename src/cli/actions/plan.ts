import { OrchestratorServiceService as service } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../grpc/client.js';
import { listNodes } from '../../launcher/list-all.js';
import { knownModel } from '../../orchestrator/known-model.js';
import type { LibraryModel } from '../../orchestrator/model-library.js';
import type { Invocation } from '../command.js';
import type { PlanValues } from '../commands/plan.js';
import { readPoolFile } from '../config/pool-file.js';
import type { ExitCode } from '../exit-code.js';
import { liveStagesOn } from '../live-stages.js';
import { planLocally } from '../plan-locally.js';
import { readModel } from '../planned-model.js';
import { showPlan } from '../show-plan.js';
import { usageFailure } from '../usage-failure.js';
import { withOrchestrator } from '../with-orchestrator.js';

/** The orchestrator plans its own models for its own nodes; what is only described is planned here. */
export async function plan(invocation: Invocation<PlanValues>): Promise<ExitCode> {
  const { file, model, nodes } = invocation.values;
  if (model === undefined && nodes === undefined) return planThere(invocation);
  const found = model === undefined ? await readModel(file!) : knownModel(model);
  if (found.kind === 'refused') {
    const field = model === undefined ? '<file>' : '--model';
    return invocation.output.fail(usageFailure([{ field, message: found.message }]));
  }
  return nodes === undefined ? planThere(invocation, found.model) : planForDescribed(nodes, invocation, found.model);
}

/** For the orchestrator's nodes. `described` is a model that it cannot read. */
function planThere(invocation: Invocation<PlanValues>, described?: LibraryModel): Promise<ExitCode> {
  const { values, output } = invocation;
  return withOrchestrator(output, values, async (client) => {
    const nodes = await listNodes(client);
    return showPlan(invocation, {
      nodes,
      plan: (request) =>
        described ? planLocally(request, described, nodes) : unaryCall(client, service.planRun, { plan: request }),
      liveStages: (nodeId) => liveStagesOn(client, nodeId),
    });
  });
}

async function planForDescribed(
  path: string,
  invocation: Invocation<PlanValues>,
  model: LibraryModel,
): Promise<ExitCode> {
  const pool = await readPoolFile(path);
  if (pool.kind === 'refused') return invocation.output.fail(usageFailure(pool.problems));
  const { nodes } = pool;
  return showPlan(invocation, {
    nodes,
    plan: (request) => planLocally(request, model, nodes),
    liveStages: () => [],
  });
}
