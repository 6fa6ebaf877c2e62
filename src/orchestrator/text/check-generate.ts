import type { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { limits } from '../../core/limits.js';
import type { RunState } from '../../core/machine/state.js';
import type { FieldViolation } from '../../grpc/field-violation.js';
import { throwIfAny } from '../../grpc/throw-if-any.js';

/** What a prompt may ask of a run; throws RpcError. Lengths in tokens are the token endpoint's to judge. */
export function checkGenerate(run: RunState, request: GenerateRequest): void {
  const violations = [...contentViolations(request), ...samplingViolations(run, request)];
  throwIfAny(violations);
}

/** What would be a second answer cannot be asked of an answer that is followed; throws RpcError. */
export function checkAttach({ runtime, messages, conversation }: GenerateRequest): void {
  const set = { runtime: runtime !== undefined, messages: messages.length > 0, conversation: conversation !== '' };
  const description = 'cannot be set together with attach, which asks for nothing new: leave it out';
  throwIfAny(
    Object.entries(set).flatMap(([field, isSet]): FieldViolation[] => (isSet ? [{ field, description }] : [])),
  );
}

function* contentViolations({ runtime, messages }: GenerateRequest): Iterable<FieldViolation> {
  const prompt = runtime?.prompt?.source?.value ?? '';
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  if (prompt === '' && messages.length === 0) {
    yield { field: 'runtime.prompt', description: 'is empty: give a prompt, or messages' };
  }
  if (prompt !== '' && messages.length > 0) {
    yield { field: 'messages', description: 'cannot be set together with a prompt: give one of them' };
  }
  if (bytes > limits.promptBytes) {
    yield {
      field: 'messages',
      description: `have ${bytes} bytes, ${limits.promptBytes} at most: leave older ones out`,
    };
  }
}

/** The last stage samples as it was prepared to. */
function* samplingViolations({ plan }: RunState, { runtime }: GenerateRequest): Iterable<FieldViolation> {
  const asked = runtime?.sampling;
  const planned = plan.runtime?.sampling;
  if (asked === undefined || planned === undefined) return;
  if (asked.temperatureMillis === planned.temperatureMillis && asked.topK === planned.topK) return;
  const { temperatureMillis, topK } = planned;
  const description = `differs from the plan's, temperature_millis ${temperatureMillis} and top_k ${topK}: leave it out, or create a run with it`;
  yield { field: 'runtime.sampling', description };
}
