import type { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, type RunCause, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { type TextDone, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { LocalCaller } from '../../grpc/local-calls.js';
import type { OrchestratorCalls } from '../api.js';
import { HttpError, refusal } from '../http-refusal.js';

/** An answer as it comes: text, and then how it ended. */
export type AnswerPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'end'; readonly finishReason: 'stop' | 'length'; readonly done: TextDone };

/**
 * Asks a run. Throws RpcError when it does not take the prompt, and HttpError when the answer breaks off; ends without an
 * `end` only for a client that is gone.
 */
export async function* answerPieces(
  calls: OrchestratorCalls,
  request: GenerateRequest,
  run: Run,
  caller: LocalCaller,
): AsyncGenerator<AnswerPiece, void> {
  for await (const { text, end } of calls.generate(request, caller)) {
    if (text !== '') yield { kind: 'text', text };
    if (end?.$case === 'fault') throw faulted(run, end.value);
    if (end?.$case === 'done') {
      yield { kind: 'end', finishReason: finishReason(run, end.value), done: end.value };
      return;
    }
  }
  if (!caller.signal.aborted) throw cutOff(run, 'without a word of why; ask again');
}

function finishReason(run: Run, { reason, message }: TextDone): 'stop' | 'length' {
  switch (reason) {
    case TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION:
    case TextDoneReason.TEXT_DONE_REASON_STOP_SEQUENCE:
      return 'stop';
    case TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS:
    case TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL:
      return 'length';
    default:
      throw cutOff(run, message);
  }
}

function cutOff({ runId }: Run, why: string): HttpError {
  return new HttpError(refusal(502, 'ANSWER_CUT_OFF', `the answer of run ${runId} was cut off: ${why}`));
}

function faulted({ runId }: Run, { stageIndex, nodeName, component, reason, message }: RunCause): HttpError {
  const stage = stageIndex === undefined ? component : `stage ${stageIndex} on "${nodeName}"`;
  const name = StageFaultReason[reason].replace('STAGE_FAULT_REASON_', '');
  const sentence = `run ${runId} ended in the middle of the answer: ${stage}: ${name}: ${message}`;
  return new HttpError(refusal(502, 'RUN_FAULTED', sentence, { metadata: { runId: String(runId) } }));
}
