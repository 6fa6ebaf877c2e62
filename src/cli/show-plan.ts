import type { Node } from '../../gen/stageplane/v1/node.js';
import { PlanRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { PlanReport, type PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { buildPlanRequest } from './build-plan-request.js';
import type { Invocation } from './command.js';
import type { PlanValues } from './commands/plan.js';
import { type ExitCode, exitCode } from './exit-code.js';
import { type Explaining, explainNode } from './explain-node.js';
import { findNode } from './find-node.js';
import { nodeExplanation, nodeExplanationDocument } from './format/node-explanation.js';
import { planView } from './format/plan-view.js';
import type { Output } from './output.js';
import { rejectionFailure } from './rejection-failure.js';
import { usageFailure } from './usage-failure.js';

/** Whoever plans, and knows the nodes. */
export interface Planner {
  /** The whole pool. */
  readonly nodes: readonly Node[];
  plan(request: PlanRequest): PlanRunResponse | Promise<PlanRunResponse>;
  /** What live runs hold on a node. */
  liveStages(nodeId: bigint): Explaining['live'] | Promise<Explaining['live']>;
}

/** Asks for a plan and shows it, or what it says of one node, or why there is none. */
export async function showPlan({ values, output }: Invocation<PlanValues>, planner: Planner): Promise<ExitCode> {
  const { nodes } = planner;
  const explained = values.explainNode === undefined ? undefined : findNode(nodes, values.explainNode);
  if (explained?.kind === 'unknown') {
    return output.fail(usageFailure([{ field: '--explain-node', message: explained.message }]));
  }
  const built = buildPlanRequest({ ...values, file: values.file ?? values.model ?? '' }, nodes);
  if (built.kind === 'refused') return output.fail(usageFailure(built.problems));
  const answer = await planner.plan(built.request);
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
