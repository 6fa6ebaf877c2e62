import { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../../gen/stageplane/v1/plan.js';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import type { ChatMessage } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { GenerationFields } from './generation-fields.js';

export type Prompt =
  | { readonly kind: 'chat'; readonly messages: readonly ChatMessage[] }
  | { readonly kind: 'text'; readonly text: string };

/** The call behind a completion. What a client leaves out is as the run was created. */
export function generateRequest(run: Run, { maxTokens, sampling }: GenerationFields, prompt: Prompt): GenerateRequest {
  const planned = run.plan?.runtime?.sampling;
  const given = Object.entries(sampling).filter(([, value]) => value !== undefined);
  const runtime = RuntimeConfig.fromPartial({
    maxTokens,
    ...(prompt.kind === 'text' && { prompt: { source: { $case: 'inline', value: prompt.text } } }),
    ...(given.length > 0 && { sampling: { ...planned, ...Object.fromEntries(given) } }),
  });
  return GenerateRequest.fromPartial({
    runId: run.runId,
    runtime,
    messages: prompt.kind === 'chat' ? [...prompt.messages] : [],
  });
}
