import { randomBytes } from 'node:crypto';
import { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../../gen/stageplane/v1/plan.js';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import type { ChatMessage } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { GenerationFields } from './generation-fields.js';

export type Prompt =
  | { readonly kind: 'chat'; readonly messages: readonly ChatMessage[] }
  | { readonly kind: 'text'; readonly text: string };

/** The call behind a completion. What a client leaves out is as the run was created. */
export function generateRequest(run: Run, fields: GenerationFields, prompt: Prompt): GenerateRequest {
  const planned = run.plan?.runtime?.sampling;
  const given = Object.entries(fields.sampling).filter(([, value]) => value !== undefined);
  const sampling = given.length === 0 ? undefined : { ...planned, ...Object.fromEntries(given) };
  const runtime = RuntimeConfig.fromPartial({
    maxTokens: fields.maxTokens,
    stop: [...fields.stop],
    ...(prompt.kind === 'text' && { prompt: { source: { $case: 'inline', value: prompt.text } } }),
    ...(sampling && { sampling }),
  });
  const isByChance = ((sampling ?? planned)?.temperatureMillis ?? 0) > 0;
  return GenerateRequest.fromPartial({
    runId: run.runId,
    runtime,
    messages: prompt.kind === 'chat' ? [...prompt.messages] : [],
    seed: fields.seed ?? (isByChance ? anySeed() : undefined),
  });
}

/** Who asks again without naming a seed wants another answer, and the run's own seed would give the same one. */
function anySeed(): bigint {
  return randomBytes(8).readBigUInt64LE();
}
