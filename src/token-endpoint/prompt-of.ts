import type { PromptSource } from '../../gen/stageplane/v1/plan.js';
import type { GenerateText } from '../../gen/stageplane/v1/token_endpoint.js';

/** The prompt of a launcher, as an endpoint takes it. */
export function promptOf(source: PromptSource['source']): Pick<GenerateText, 'prompt' | 'messages'> {
  if (source?.$case !== 'userMessage') return { prompt: source?.value ?? '', messages: [] };
  return { prompt: '', messages: [{ role: 'user', content: source.value }] };
}
