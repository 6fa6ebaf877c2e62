import type { Node } from '../../../gen/stageplane/v1/node.js';
import {
  type OrchestratorServiceClient,
  PlanRunResponse,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { PlanReport, type PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import { unaryCall } from '../../grpc/client.js';
import { listNodes } from '../../launcher/list-all.js';
import { buildPlanRequest } from '../build-plan-request.js';
import type { Invocation } from '../command.js';
import type { PlanValues } from '../commands/plan.js';
import { readPoolFile } from '../config/pool-file.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { type Explaining, explainNode } from '../explain-node.js';
import { findNode } from '../find-node.js';
import { nodeExplanation, nodeExplanationDocument } from '../format/node-explanation.js';
import { planView } from '../format/plan-view.js';
import { type LiveStage, liveStagesOn } from '../live-stages.js';
import type { Output } from '../output.js';
import { planLocally } from '../plan-locally.js';
import { knownModel, type PlannedModel, readModel } from '../planned-model.js';
import { rejectionFailure } from '../rejection-failure.js';
import { unknownNodeFailure } from '../unknown-node-failure.js';
import { usageFailure } from '../usage-failure.js';
import { withOrchestrator } from '../with-orchestrator.js';

/** Whoever plans, and the nodes that it plans for. */
interface Planner {
  readonly nodes: readonly Node[];
  ask(request: PlanRequest): Promise<PlanRunResponse> | PlanRunResponse;
  liveStages(nodeId: bigint): Promise<readonly LiveStage[]>;
}

/** The orchestrator plans for its own nodes; where the model or the nodes are only described, this process does. */
export async function plan(invocation: Invocation<PlanValues>): Promise<ExitCode> {
  const { values, output } = invocation;
  const { file, model: reference, nodes: poolFile } = values;
  if (poolFile === undefined && reference === undefined) {
    return withOrchestrator(output, values.orchestrator, async (client) => {
      const ask = (request: PlanRequest) => unaryCall(client, service.planRun, { plan: request });
      return showPlan(invocation, { ...(await realNodes(client)), ask });
    });
  }
  const found = reference === undefined ? await readModel(file!) : knownModel(reference);
  const field = reference === undefined ? '<file>' : '--model';
  if (found.kind === 'refused') return output.fail(usageFailure([{ field, message: found.message }]));
  if (poolFile !== undefined) {
    const pool = await readPoolFile(poolFile);
    if (pool.kind === 'refused') return output.fail(usageFailure(pool.problems));
    return showPlan(invocation, localPlanner(found.model, { nodes: pool.nodes, liveStages: async () => [] }));
  }
  return withOrchestrator(output, values.orchestrator, async (client) =>
    showPlan(invocation, localPlanner(found.model, await realNodes(client))),
  );
}

async function realNodes(client: OrchestratorServiceClient): Promise<Omit<Planner, 'ask'>> {
  return { nodes: await listNodes(client), liveStages: (nodeId) => liveStagesOn(client, nodeId) };
}

function localPlanner(model: PlannedModel, pool: Omit<Planner, 'ask'>): Planner {
  return { ...pool, ask: (request) => planLocally(request, model, pool.nodes) };
}

async function showPlan({ values, output }: Invocation<PlanValues>, planner: Planner): Promise<ExitCode> {
  const { nodes } = planner;
  const explained = values.explainNode === undefined ? undefined : findNode(nodes, values.explainNode);
  if (explained?.kind === 'unknown') return output.fail(unknownNodeFailure(explained.message));
  const built = buildPlanRequest({ ...values, file: values.file ?? values.model ?? '' }, nodes);
  if (built.kind === 'refused') return output.fail(usageFailure(built.problems));
  const answer = await planner.ask(built.request);
  const { outcome, report } = answer;
  if (explained) {
    const live = await planner.liveStages(explained.node.nodeId);
    showNode(output, { answer, node: explained.node, live, headroomMillis: values.headroom });
  } else if (output.json) output.document(PlanRunResponse.toJSON(answer));
  if (outcome?.$case !== 'plan') {
    // With --json the rejection has been said, where the answer itself was shown: it is an answer, not an error.
    if (!outcome || (output.json && !explained)) return exitCode.rejected;
    return output.fail(rejectionFailure(outcome.value, report));
  }
  const { plan: runPlan, settings } = outcome.value;
  if (!explained && !output.json && runPlan) output.print(planView({ plan: runPlan, settings, report, nodes }));
  return exitCode.ok;
}

interface Explained extends Pick<Explaining, 'node' | 'live' | 'headroomMillis'> {
  readonly answer: PlanRunResponse;
}

/** What the answer says of one node; of a rejected plan too, since that is when one asks. */
function showNode(output: Output, { answer, ...explained }: Explained): void {
  const { outcome, report = PlanReport.fromPartial({}) } = answer;
  const settings = outcome?.$case === 'plan' ? outcome.value.settings : [];
  const explanation = explainNode({ ...explained, report, settings });
  if (output.json) output.document(nodeExplanationDocument(explanation));
  else output.print(nodeExplanation(explanation));
}
