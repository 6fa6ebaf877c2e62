import type { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { NodeId } from '../../core/ids.js';
import { limits } from '../../core/limits.js';
import type { NodeState, RunState } from '../../core/machine/state.js';
import { samplingObstacle } from '../../core/planner/sampling-feature.js';
import { samplingProblems, stopProblems } from '../../core/sampling-problems.js';
import type { FieldViolation } from '../../grpc/field-violation.js';
import { throwIfAny } from '../../grpc/throw-if-any.js';
import { within } from '../check-plan-request.js';
import { samplingOf } from './asked-text.js';

/** What a prompt may ask of a run; throws RpcError. Lengths in tokens are the token endpoint's to judge. */
export function checkGenerate(run: RunState, request: GenerateRequest, nodes: ReadonlyMap<NodeId, NodeState>): void {
  const violations = [...contentViolations(request), ...samplingViolations(run, request, nodes)];
  throwIfAny(violations);
}

/** What would be a second answer cannot be asked of an answer that is followed; throws RpcError. */
export function checkAttach({ runtime, messages, conversation, seed }: GenerateRequest): void {
  const set = {
    runtime: runtime !== undefined,
    messages: messages.length > 0,
    conversation: conversation !== '',
    seed: seed !== undefined,
  };
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

function* samplingViolations(
  run: RunState,
  request: GenerateRequest,
  nodes: ReadonlyMap<NodeId, NodeState>,
): Iterable<FieldViolation> {
  const { sampling, stop = [] } = request.runtime ?? {};
  const problems = sampling === undefined ? [] : samplingProblems(sampling);
  yield* within('runtime', [...within('sampling', problems), ...stopProblems(stop)]);
  if (samplingOf(run, request) === undefined) return;
  const engine = run.settings[0]?.engine ?? '';
  const field = sampling === undefined ? 'seed' : 'runtime.sampling';
  for (const id of new Set(run.stages.map(({ nodeId }) => nodeId))) {
    const node = nodes.get(id);
    const description = node && samplingObstacle(node, engine);
    if (description !== undefined) yield { field, description: `cannot be had: ${description}` };
  }
}
