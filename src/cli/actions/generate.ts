import {
  GenerateRequest,
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { SamplingPolicy } from '../../../gen/stageplane/v1/plan.js';
import { streamCall, unaryCall } from '../../grpc/client.js';
import { answerExit } from '../answer-exit.js';
import { askedSampling } from '../asked-sampling.js';
import type { Invocation } from '../command.js';
import type { GenerateValues } from '../commands/text.js';
import type { ExitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';
import { printAnswer } from '../print-answer.js';
import { readPrompt } from '../read-prompt.js';
import { usageFailure } from '../usage-failure.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function generate({ values, output }: Invocation<GenerateValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, async (client: OrchestratorServiceClient) => {
    const prompt = await readPrompt(values.prompt);
    if (prompt.kind === 'refused') {
      return output.fail(usageFailure([{ field: '<prompt>', message: prompt.problem }]));
    }
    const interrupts = listenForInterrupts();
    const signal = interrupts.first;
    // What flags leave out is the run's, which is only asked for then.
    const run = askedSampling(values) && (await unaryCall(client, service.getRun, { runId: values.id })).run;
    const request = requestOf(values, prompt.value, askedSampling(values, run?.plan?.runtime?.sampling));
    const printed = await printAnswer(output, streamCall(client, service.generate, request, { signal }), signal);
    interrupts.ignore();
    return answerExit(output, values.id, printed);
  });
}

function requestOf(values: GenerateValues, prompt: string, sampling: SamplingPolicy | undefined): GenerateRequest {
  const { id: runId, maxTokens = 0, conversation = '', chat, system, stop, seed } = values;
  const told = system === undefined ? [] : [{ role: 'system', content: system }];
  return GenerateRequest.fromPartial({
    runId,
    conversation,
    seed,
    runtime: {
      maxTokens,
      sampling,
      stop: [...stop],
      ...(!chat && { prompt: { source: { $case: 'inline', value: prompt } } }),
    },
    messages: chat ? [...told, { role: 'user', content: prompt }] : [],
  });
}
