import {
  GenerateRequest,
  type GenerateResponse,
  type OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { streamCall } from '../../src/grpc/client.js';

export interface Answer {
  readonly text: string;
  readonly tokenIds: readonly number[];
  readonly end: GenerateResponse['end'];
}

/** Gathers an answer to its end. */
export async function answerOf(responses: AsyncIterable<GenerateResponse>): Promise<Answer> {
  const answer = { text: '', tokenIds: [] as number[], end: undefined as GenerateResponse['end'] };
  for await (const { text, tokenIds, end } of responses) {
    answer.text += text;
    answer.tokenIds.push(...tokenIds);
    answer.end = end;
  }
  return answer;
}

/** Asks a SERVING run. */
export function generate(
  client: OrchestratorServiceClient,
  runId: bigint,
  prompt: string,
  maxTokens = 64,
  signal?: AbortSignal,
) {
  const runtime = RuntimeConfig.fromPartial({ maxTokens, prompt: { source: { $case: 'inline', value: prompt } } });
  const request = GenerateRequest.fromPartial({ runId, runtime });
  return streamCall(client, Service.generate, request, signal ? { signal } : {});
}

/** Follows the answer of a ONE_SHOT run. */
export function attach(client: OrchestratorServiceClient, runId: bigint) {
  return streamCall(client, Service.generate, GenerateRequest.fromPartial({ runId, attach: true }));
}
