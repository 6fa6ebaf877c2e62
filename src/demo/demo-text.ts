import {
  GenerateRequest,
  type OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { PlanRequest, RunMode } from '../../gen/stageplane/v1/planner.js';
import { Fidelity, StageSettings } from '../../gen/stageplane/v1/provision.js';
import type { Run } from '../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../gen/stageplane/v1/token_endpoint.js';
import { answerSummary } from '../cli/format/answer-summary.js';
import { escapeControls } from '../cli/format/escape.js';
import { streamCall } from '../grpc/client.js';

export const DEMO_PROMPT = 'The capital of France is';

/** Enough to see that two answers go the same way. */
const TOKENS = 32;

/** The model in so many stages, to be compared token by token. */
export function demoRequest(path: string, stageCount: number): PlanRequest {
  return PlanRequest.fromPartial({
    model: { source: { $case: 'localPath', value: path } },
    mode: RunMode.RUN_MODE_SERVING,
    stageCount,
    settings: StageSettings.fromPartial({ fidelity: Fidelity.FIDELITY_EXACT, threads: 1 }),
  });
}

/** Asks the demo's one question. Rejects when the run does not live to answer it. */
export async function askDemo(
  client: OrchestratorServiceClient,
  runId: bigint,
  signal: AbortSignal,
): Promise<TextAnswer> {
  const prompt = { source: { $case: 'inline', value: DEMO_PROMPT } } as const;
  const runtime = RuntimeConfig.fromPartial({ maxTokens: TOKENS, prompt });
  const answer: TextAnswer = { text: '', tokenIds: [], done: undefined };
  const request = GenerateRequest.fromPartial({ runId, runtime });
  for await (const { text, tokenIds, end } of streamCall(client, Service.generate, request, { signal })) {
    answer.text += text;
    answer.tokenIds.push(...tokenIds);
    if (end?.$case === 'fault') throw new Error(`run ${runId} ended: ${end.value.message}`);
    if (end?.$case === 'done') answer.done = end.value;
  }
  return answer;
}

/** What was said, by its tokens too: a model of random numbers says nothing that can be read. */
export function answerView({ text, tokenIds, done }: TextAnswer): string {
  const shown = tokenIds.slice(0, 12).join(' ');
  const ids = `tokens ${shown}${tokenIds.length > 12 ? ' ...' : ''}`;
  return [`"${escapeControls(text)}"`, ids, ...(done ? [answerSummary(done)] : [])].join('\n');
}

export function sameTokens(one: TextAnswer, other: TextAnswer): boolean {
  return one.tokenIds.length === other.tokenIds.length && one.tokenIds.every((id, at) => id === other.tokenIds[at]);
}

/** Whether the stages kept what their plan promised. */
export function comparison(identical: boolean, { fidelity, stages, settings }: Run): string {
  const who = `${stages.length} stages of engine "${settings[0]?.engine}"`;
  if (identical) return `${who} and the whole model said the same, token by token; the plan promised: ${fidelity}`;
  return `${who} and the whole model did NOT say the same, although the plan promised: ${fidelity}`;
}
