import { existsSync } from 'node:fs';
import {
  CreateRunRequest,
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { type PlanRequest, RunMode } from '../../../gen/stageplane/v1/planner.js';
import { RestartMode, type Run, RunPhase } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../../core/limits.js';
import type { Daemon } from '../../demo/daemon.js';
import { nodesReady } from '../../demo/wait-for.js';
import { inspectModel } from '../../gguf/inspect-model.js';
import { unaryCall } from '../../grpc/client.js';
import { listNodes } from '../../launcher/list-all.js';
import { buildPlanRequest, namesNodes } from '../build-plan-request.js';
import type { Invocation } from '../command.js';
import type { UpValues } from '../commands/up.js';
import { DEFAULT_ADDRESS } from '../config/common-settings.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { type Interrupts, listenForInterrupts } from '../interrupts.js';
import { refusedRun } from '../refused-run.js';
import { startFailure } from '../start-failure.js';
import { endpointOf } from '../up/endpoint.js';
import { openPool, type Pool } from '../up/open-pool.js';
import { serveUntilDone } from '../up/serve-until-done.js';
import { endAbandoned, findServed, newRequestId } from '../up/served-request.js';
import { showEndpoint } from '../up/show-endpoint.js';
import { Turn } from '../up/turn.js';
import { usageFailure } from '../usage-failure.js';
import { withOrchestrator } from '../with-orchestrator.js';

export async function up(invocation: Invocation<UpValues>): Promise<ExitCode> {
  const { values, output } = invocation;
  const { problem, isChat } = await lookAt(values);
  if (problem !== undefined) return output.fail(usageFailure([{ field: '', message: problem }]));
  const interrupts = listenForInterrupts(['SIGINT', 'SIGTERM', 'SIGHUP']);
  const daemons: Daemon[] = [];
  const turn = new Turn(values.data, output);
  // Whoever starts from now on must not find what is about to end.
  const claim = () => void (daemons.length > 0 && turn.claim());
  interrupts.first.addEventListener('abort', claim, { once: true });
  interrupts.second.addEventListener('abort', () => leaveAtOnce(daemons), { once: true });
  try {
    const pool = await openPool(invocation, { daemons, turn, signal: interrupts.first });
    const served = withOrchestrator(output, { ...values, orchestrator: pool.address }, (client) =>
      serve(invocation, { client, pool, turn, interrupts, isChat }),
    );
    return await Promise.race([served, ...daemons.map((daemon) => daemon.lost())]);
  } catch (error) {
    return interrupts.first.aborted ? exitCode.interrupted : output.fail(startFailure(error));
  } finally {
    claim();
    for (const daemon of daemons.toReversed()) await daemon.stop();
    turn.release();
    interrupts.ignore();
  }
}

/** Before anything is started. What another orchestrator has on its own disk is its to judge: a prompt will do for any model. */
async function lookAt({ file, orchestrator }: UpValues): Promise<{ problem: string | undefined; isChat: boolean }> {
  if (orchestrator !== undefined && !existsSync(file)) return { problem: undefined, isChat: false };
  const inspected = await inspectModel(file);
  if (inspected.kind === 'refused') return { problem: inspected.error.message, isChat: false };
  return { problem: inspected.obstacle, isChat: inspected.model.metadata.entries.has('tokenizer.chat_template') };
}

/** What is not ours is left as it is; workers end with their agents. */
function leaveAtOnce(daemons: readonly Daemon[]): void {
  if (daemons.length === 0) return;
  for (const daemon of daemons) daemon.kill();
  process.exit(exitCode.interrupted);
}

interface Serving {
  readonly client: OrchestratorServiceClient;
  readonly pool: Pool;
  readonly turn: Turn;
  readonly interrupts: Interrupts;
  /** Whether the model brings a chat template. */
  readonly isChat: boolean;
}

async function serve(
  { values, output }: Invocation<UpValues>,
  { client, pool, turn, interrupts, isChat }: Serving,
): Promise<ExitCode> {
  await someNode(client, pool, interrupts.first);
  const built = buildPlanRequest(values, namesNodes(values) ? await listNodes(client) : []);
  if (built.kind === 'refused') return output.fail(usageFailure(built.problems));
  const plan = { ...built.request, mode: RunMode.RUN_MODE_SERVING };
  // One that runs already may have been given its runs by somebody else.
  if (pool.agentLog !== undefined) await endAbandoned(client, plan, interrupts.first);
  const known = await findServed(client, plan);
  if (known?.phase === RunPhase.RUN_PHASE_RUNNING) {
    if (!output.json) output.print(`run ${known.runId} serves this already`);
    showEndpoint(output, await endpointOf(pool, known, isChat), stopCommand(known.runId, pool));
    return exitCode.ok;
  }
  interrupts.first.throwIfAborted();
  const run = known ?? (await createRun(client, plan));
  if (!('runId' in run)) return refusedRun(output, run);
  if (!interrupts.first.aborted) turn.release();
  if (!output.json) output.print(`run ${run.runId}`);
  const onReady = async () => showEndpoint(output, await endpointOf(pool, run, isChat), 'Ctrl-C');
  return serveUntilDone({ client, output, run, interrupts }, onReady);
}

function stopCommand(runId: bigint, { address }: Pool): string {
  return `stageplane runs stop ${runId}${address === DEFAULT_ADDRESS ? '' : ` --orchestrator ${address}`}`;
}

async function createRun(client: OrchestratorServiceClient, plan: PlanRequest) {
  const restart = { mode: RestartMode.RESTART_MODE_ON_FAULT, maxAttempts: limits.upRestarts, backoffMillis: 0n };
  const request = CreateRunRequest.fromPartial({ requestId: newRequestId(plan), plan, restart });
  const answer = await unaryCall(client, service.createRun, request);
  return answer.outcome?.$case === 'run' ? (answer.outcome.value as Run) : answer;
}

/** Our own agent is on its way; where there should be others, nobody waits for them. */
async function someNode(client: OrchestratorServiceClient, pool: Pool, signal: AbortSignal): Promise<void> {
  if (pool.agentLog !== undefined) {
    await nodesReady(client, 1, signal).catch(() => {
      throw new Error(`the agent that was started has not joined; see its log, ${pool.agentLog}`);
    });
  } else if ((await listNodes(client)).length === 0) {
    const message = `the orchestrator at ${pool.address} has no node yet: start \`stageplane agent\` on a machine with the model`;
    throw new Error(message);
  }
}
