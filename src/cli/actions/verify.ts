import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import { engineBuilds } from '../../agent/engine-builds.js';
import { ownWorker } from '../../agent/worker-program.js';
import { streamCall, unaryCall } from '../../grpc/client.js';
import { listNodes } from '../../launcher/list-all.js';
import { compareAnswers, tokensToReplay } from '../../replay/compare-answers.js';
import { compareKernels, type KernelComparison } from '../../replay/compare-kernels.js';
import { findModelFile } from '../../replay/find-model-file.js';
import { judgeComparison } from '../../replay/judge-comparison.js';
import { replay } from '../../replay/replay.js';
import { answerExit } from '../answer-exit.js';
import type { Invocation } from '../command.js';
import type { VerifyValues } from '../commands/verify.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import { type Verification, verificationDocument, verificationView } from '../format/verification-view.js';
import { listenForInterrupts } from '../interrupts.js';
import type { Output } from '../output.js';
import { saidAnswer } from '../said-answer.js';
import { stopOnSignal } from '../stop-on-signal.js';
import { usageFailure } from '../usage-failure.js';
import { verifyQuestion } from '../verify-question.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function verify({ values, output }: Invocation<VerifyValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const { run } = await unaryCall(client, service.getRun, { runId: values.id });
    const { plan, settings: [settings] = [] } = run ?? {};
    if (!run || !plan || !settings) return incomparable(output, `run ${values.id} has no plan that could be replayed`);
    return verifyRun({ client, output, values, run, plan, settings });
  });
}

interface VerifyRun {
  readonly client: OrchestratorServiceClient;
  readonly output: Output;
  readonly values: VerifyValues;
  readonly run: Run;
  readonly plan: RunPlan;
  /** Of the first stage. */
  readonly settings: StageSettings;
}

async function verifyRun({ client, output, values, run, plan, settings }: VerifyRun): Promise<ExitCode> {
  const question = await verifyQuestion(run, values);
  if (question.kind === 'refused') return output.fail(usageFailure([question.problem]));
  const { model: named, models: folders } = values;
  const files = await findModelFile({ plan, settings, named, folders });
  if (files.kind === 'refused') return incomparable(output, files.message);
  const kernels = await kernelsOf(client, run, settings.engine);

  const interrupts = listenForInterrupts(['SIGINT', 'SIGTERM', 'SIGHUP']);
  stopOnSignal(interrupts, () => {});
  const signal = interrupts.first;
  const said = await saidAnswer(streamCall(client, service.generate, question.request, { signal }), signal);
  if (said.kind === 'interrupted') return exitCode.interrupted;
  if (said.kind === 'faulted') return answerExit(output, run.runId, { ...said, text: '' });
  const { answer } = said;
  const maxTokens = tokensToReplay(answer);
  if (maxTokens === 0) return incomparable(output, `run ${run.runId} has said nothing: there is nothing to compare`);
  if (!output.json) {
    const { length } = answer.tokenIds;
    output.aside(`run ${run.runId} said ${length} tokens; asking the whole model, ${escapeControls(files.modelPath)}`);
  }
  const replayed = await replay({ plan, settings, ...files, prompt: question.prompt, maxTokens }, signal);
  if (replayed.kind === 'interrupted') return exitCode.interrupted;
  if (replayed.kind === 'failed') {
    return incomparable(output, `the whole model could not be run on this machine: ${replayed.message}`);
  }
  const comparison = compareAnswers(answer, replayed.answer);
  const verdict = judgeComparison(comparison, run.fidelity, kernels);
  return show(output, { run, files, answer, kernels, comparison, verdict });
}

async function kernelsOf(client: OrchestratorServiceClient, run: Run, engine: string): Promise<KernelComparison> {
  const [nodes, builds] = await Promise.all([listNodes(client), engineBuilds(ownWorker(), [engine])]);
  return compareKernels(run, nodes, builds.get(engine) ?? '');
}

function show(output: Output, verification: Verification): ExitCode {
  if (output.json) output.document(verificationDocument(verification));
  else output.print(verificationView(verification));
  return verification.comparison.kind === 'identical' ? exitCode.ok : exitCode.failure;
}

/** Neither the same nor different: 1 must not be taken for a difference. */
function incomparable(output: Output, message: string): ExitCode {
  const [code, reason] = ['FAILED_PRECONDITION', 'NOTHING_COMPARED'];
  return output.fail({ exitCode: exitCode.usage, code, reason, message, violations: [] });
}
