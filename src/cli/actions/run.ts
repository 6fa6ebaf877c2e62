import { randomUUID } from 'node:crypto';
import {
  CreateRunRequest,
  CreateRunResponse,
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../../gen/stageplane/v1/plan.js';
import { type PlanRequest, RunMode } from '../../../gen/stageplane/v1/planner.js';
import { RestartMode, type RestartPolicy, type Run } from '../../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../grpc/client.js';
import { listNodes } from '../../launcher/list-all.js';
import { buildPlanRequest, namesNodes } from '../build-plan-request.js';
import type { Invocation } from '../command.js';
import type { RunValues } from '../commands/run.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';
import { readPrompt } from '../read-prompt.js';
import { refusedRun } from '../refused-run.js';
import { runPrompt } from '../run-prompt.js';
import { usageFailure } from '../usage-failure.js';
import { waitForRun } from '../wait-for-run.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function run(invocation: Invocation<RunValues>): Promise<ExitCode> {
  const { values, output } = invocation;
  return withOrchestrator(output, values, (client) => startRun(invocation, client));
}

async function startRun(
  { values, output }: Invocation<RunValues>,
  client: OrchestratorServiceClient,
): Promise<ExitCode> {
  const built = buildPlanRequest(values, namesNodes(values) ? await listNodes(client) : []);
  if (built.kind === 'refused') return output.fail(usageFailure(built.problems));
  const prompt = values.prompt === undefined ? undefined : await readPrompt(values.prompt);
  if (prompt?.kind === 'refused') return output.fail(usageFailure([{ field: '--prompt', message: prompt.problem }]));
  const plan = { ...built.request, ...askedText(prompt?.value, values.chat, built.request) };
  const request = CreateRunRequest.fromPartial({
    requestId: values.requestId ?? randomUUID(),
    plan,
    restart: restartPolicy(values),
  });
  const waits = values.wait || values.until !== undefined || values.prompt !== undefined;
  // Listening begins before the run does: a Ctrl-C in between must not leave a run that nobody knows of.
  const interrupts = waits ? listenForInterrupts(['SIGINT', 'SIGTERM', 'SIGHUP']) : undefined;
  const signal = interrupts?.second;
  const answer = await unaryCall(client, service.createRun, request, { signal }).catch((error: unknown) => {
    if (signal?.aborted) return undefined;
    throw error;
  });
  if (!answer) {
    output.note(
      'DETACHED',
      'left before the orchestrator answered; see `stageplane runs list` for a run of this request',
    );
    return exitCode.interrupted;
  }
  if (answer.outcome?.$case !== 'run') return refusedRun(output, answer);

  const created = answer.outcome.value;
  // Where an answer follows, it is all that stdout gets, but on a terminal.
  const isBeside = values.prompt !== undefined && !output.json && !output.terminal;
  announce(isBeside ? output.besides : output, answer, created, waits);
  if (!interrupts) return exitCode.ok;
  if (prompt !== undefined) return runPrompt({ client, output, run: created, interrupts });
  return waitForRun({ client, output, run: created, until: values.until ?? 'done', interrupts });
}

/** Absent for never: two requests that say nothing of it stay the same request. */
function restartPolicy({ restarts, restartBackoff }: RunValues): RestartPolicy | undefined {
  if (restarts === 0) return undefined;
  const mode = RestartMode.RESTART_MODE_ON_FAULT;
  return { mode, maxAttempts: restarts, backoffMillis: BigInt(restartBackoff) };
}

/** A prompt makes the run ONE_SHOT; without one it serves. */
function askedText(prompt: string | undefined, chat: boolean, plan: PlanRequest): Partial<PlanRequest> {
  if (prompt === undefined) return { mode: RunMode.RUN_MODE_SERVING };
  const source = { $case: chat ? 'userMessage' : 'inline', value: prompt } as const;
  return {
    mode: RunMode.RUN_MODE_ONE_SHOT,
    runtime: RuntimeConfig.fromPartial({ ...plan.runtime, prompt: { source } }),
  };
}

function announce(output: Invocation<RunValues>['output'], answer: CreateRunResponse, run: Run, waits: boolean): void {
  const document = CreateRunResponse.toJSON(answer);
  if (!output.json) output.print(`run ${run.runId}`);
  else if (waits) output.jsonLine(document);
  else output.document(document);
}
