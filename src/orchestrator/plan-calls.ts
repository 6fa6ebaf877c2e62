import type { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { CreateRunRequest, type CreateRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import type { PlanRejectionKind } from '../../gen/stageplane/v1/rejection.js';
import { runId } from '../core/ids.js';
import type { Answer } from '../core/machine/effects.js';
import { ledgerOf } from '../core/machine/footprints.js';
import { poolOf } from '../core/machine/pool.js';
import { planAnswer } from '../core/planner/plan-answer.js';
import { planRequest } from '../core/planner/plan-request.js';
import type { PlanningRequest } from '../core/planner/planning-request.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import type { CallContext } from '../grpc/open-call.js';
import { answerError, runNotFound } from './answer-errors.js';
import { callerOf, mayNameAnyFile } from './caller.js';
import { checkPlanRequest, checkRestartPolicy } from './check-plan-request.js';
import { withEngine } from './default-engine.js';
import { knownModel } from './known-model.js';
import type { Loop } from './loop.js';
import type { LibraryModel, ModelLibrary } from './model-library.js';
import { RecentPlans } from './recent-plans.js';
import { runView } from './run-view.js';
import { sha256 } from './sha256.js';

type ReadRequest = Pick<PlanningRequest, 'request' | 'inspection' | 'modelObstacle' | 'modelCuts' | 'warnings'>;
type Bodies = ServiceBodies<typeof OrchestratorServiceService>;

/**
 * Inspecting, planning and creating.
 *
 * @param onRejected a dry run has found no plan; what CreateRun rejects the loop's turn tells of
 */
export function planCalls(
  loop: Loop,
  library: ModelLibrary,
  onRejected: (kind: PlanRejectionKind) => void,
): Pick<Bodies, 'inspectModel' | 'planRun' | 'createRun'> {
  const recent = new RecentPlans();
  return {
    async inspectModel({ source, includeTensors }, context) {
      const confined = !mayNameAnyFile(callerOf(context));
      const { inspection } = await library.inspect(source, { includeTensors, confined });
      return { inspection };
    },

    async planRun({ plan }, context) {
      checkPlanRequest(plan!);
      const read = await readRequest(loop, library, plan!, context, catalogued(plan!));
      const draft = loop.peek();
      const situation = { pool: poolOf(draft), ledger: ledgerOf(draft), runId: runId(0n), sha256 };
      const outcome = planRequest({ ...read, ...situation });
      if (outcome.kind === 'planned') recent.remember(outcome.report.selected);
      else onRejected(outcome.rejection.kind);
      return planAnswer(outcome);
    },

    async createRun(request, context) {
      const plan = request.plan!;
      checkPlanRequest(plan);
      checkRestartPolicy(request.restart);
      const { request: planned, ...model } = await readRequest(loop, library, plan, context);
      const answer = await loop.request(
        (call) => ({
          kind: 'run-requested',
          call,
          request: {
            requestId: request.requestId,
            digest: payloadDigest(request),
            plan: planned,
            restart: request.restart,
            ...model,
            expectedPlanId: request.expectedPlanId,
            expected: recent.find(request.expectedPlanId),
          },
        }),
        context,
      );
      return created(loop, answer);
    },
  };
}

/** A rejection is an answer, not an error. */
function created({ world }: Loop, answer: Answer): CreateRunResponse {
  switch (answer.kind) {
    case 'run': {
      const run = world.runs.get(answer.runId);
      if (!run) throw runNotFound(answer.runId);
      return { outcome: { $case: 'run', value: runView(world, run) }, report: answer.report };
    }
    case 'rejected':
      return { outcome: { $case: 'rejection', value: answer.rejection }, report: answer.report };
    case 'stale': {
      const { message, rejection, report } = answer;
      return { outcome: { $case: 'stale', value: { message, rejection } }, report };
    }
    default:
      throw answerError(answer);
  }
}

/** A request that brings its own facts needs no file on this disk. */
async function readRequest(
  loop: Loop,
  library: ModelLibrary,
  asked: PlanRequest,
  context: CallContext,
  known?: LibraryModel,
): Promise<ReadRequest> {
  const confined = !mayNameAnyFile(callerOf(context));
  if (confined) await refuseOutside(library, asked);
  if (asked.facts) return { request: asked };
  const model = known ?? (await library.inspect(asked.model, { confined, field: 'plan.model' }));
  const { inspection, obstacle, llama } = model;
  const { plan: request, warnings } = withEngine(asked, model, poolOf(loop.peek()));
  const read = { request, inspection, warnings };
  if (obstacle !== undefined || request.settings?.engine !== 'llama.cpp') return { ...read, modelObstacle: obstacle };
  return llama.kind === 'obstacle' ? { ...read, modelObstacle: llama.message } : { ...read, modelCuts: llama.cuts };
}

/** Of a well-known model nobody needs a file to see whether it would fit. */
function catalogued({ model }: PlanRequest): LibraryModel | undefined {
  if (model?.source?.$case !== 'localPath') return undefined;
  const found = knownModel(model.source.value);
  return found.kind === 'found' ? found.model : undefined;
}

/** Its token endpoint will open what the facts name, when nobody knows any more who wrote them. */
async function refuseOutside(library: ModelLibrary, { model, facts }: PlanRequest): Promise<void> {
  await library.refuseOutside(model, 'plan.model');
  await library.refuseOutside(facts?.ggufSource, 'plan.facts.gguf_source');
  const tokenizer = facts?.tokenizer?.source;
  if (tokenizer?.$case === 'localPath') await library.refuseOutside({ source: tokenizer }, 'plan.facts.tokenizer');
}

/** The same payload gives the same digest, whatever its request id. */
function payloadDigest(request: CreateRunRequest): string {
  return sha256(CreateRunRequest.encode({ ...request, requestId: '' }).finish());
}
