import {
  GenerateRequest,
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { SamplingPolicy } from '../../../gen/stageplane/v1/plan.js';
import { type Run, RunOutcome } from '../../../gen/stageplane/v1/run.js';
import { streamCall, unaryCall } from '../../grpc/client.js';
import { answerExit } from '../answer-exit.js';
import { askedSampling } from '../asked-sampling.js';
import { ChatInput } from '../chat-input.js';
import { ChatTranscript } from '../chat-transcript.js';
import type { Invocation } from '../command.js';
import type { ChatValues } from '../commands/text.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import type { Failure } from '../failure.js';
import { fidelitySentence } from '../format/fidelity-sentence.js';
import { label } from '../format/labels.js';
import type { Output } from '../output.js';
import { printAnswer } from '../print-answer.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function chat({ values, output }: Invocation<ChatValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client) => {
    const { run } = await unaryCall(client, service.getRun, { runId: values.id });
    if (run && run.outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED) return output.fail(overFailure(run));
    // From its greeting on, a chat answers Ctrl-C itself.
    const input = new ChatInput();
    if (!output.json) output.aside(`run ${values.id}${run ? `, ${fidelitySentence(run.fidelity)}` : ''}`);
    try {
      return await talk(client, output, values, input, askedSampling(values, run?.plan?.runtime?.sampling));
    } finally {
      input.close();
    }
  });
}

/** Before a person has typed anything, as the orchestrator would say it after that. */
function overFailure({ runId, phase }: Run): Failure {
  const message = `run ${runId} is ${label.runPhase(phase)}: create a new one`;
  const code = 'FAILED_PRECONDITION';
  return { exitCode: exitCode.failure, code, reason: 'RUN_NOT_RUNNING', message, violations: [] };
}

async function talk(
  client: OrchestratorServiceClient,
  output: Output,
  values: ChatValues,
  input: ChatInput,
  sampling: SamplingPolicy | undefined,
): Promise<ExitCode> {
  const { id: runId, maxTokens = 0, system, plain, seed, stop } = values;
  const transcript = new ChatTranscript({ plain, system });
  for (let line = await input.next(); line !== undefined; line = await input.next()) {
    if (line.trim() === '') continue;
    transcript.said(line);
    const { prompt, messages, conversation } = transcript.turn();
    const inline = messages.length > 0 ? {} : { prompt: { source: { $case: 'inline', value: prompt } } as const };
    const runtime = { maxTokens, sampling, stop: [...stop], ...inline };
    const request = GenerateRequest.fromPartial({ runId, conversation, messages, seed, runtime });
    const signal = input.interrupted();
    const printed = await printAnswer(output, streamCall(client, service.generate, request, { signal }), signal);
    if (printed.kind === 'faulted') return answerExit(output, runId, printed);
    transcript.answered(printed.text);
  }
  return exitCode.ok;
}
