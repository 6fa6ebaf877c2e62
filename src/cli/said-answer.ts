import type { GenerateResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { RunCause } from '../../gen/stageplane/v1/run.js';
import { TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { RpcError } from '../grpc/rpc-error.js';
import type { SaidAnswer } from '../replay/compare-answers.js';

export type Said =
  | { readonly kind: 'said'; readonly answer: SaidAnswer }
  /** The run ended before its first token. */
  | { readonly kind: 'faulted'; readonly cause: RunCause }
  /** Whoever asked has had enough. */
  | { readonly kind: 'interrupted' };

/** Gathers an answer to its end. Throws RpcError when there is none. */
export async function saidAnswer(responses: AsyncIterable<GenerateResponse>, signal: AbortSignal): Promise<Said> {
  let text = '';
  const tokenIds: number[] = [];
  const said = (end: SaidAnswer['end']): Said => ({ kind: 'said', answer: { text, tokenIds, end } });
  try {
    for await (const response of responses) {
      text += response.text;
      tokenIds.push(...response.tokenIds);
      const { end } = response;
      if (end?.$case === 'done') return said(ends[end.value.reason] ?? 'broken-off');
      if (end?.$case === 'fault') {
        return tokenIds.length > 0 ? said('broken-off') : { kind: 'faulted', cause: end.value };
      }
    }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (signal.aborted) return { kind: 'interrupted' };
    // The run was stopped; what it had said until then stays true or false.
    if (error.reason === 'ANSWER_CUT_OFF' && tokenIds.length > 0) return said('broken-off');
    throw error;
  }
  return { kind: 'interrupted' };
}

const ends: Partial<Record<TextDoneReason, SaidAnswer['end']>> = {
  [TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION]: 'model',
  [TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS]: 'limit',
  [TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL]: 'limit',
  [TextDoneReason.TEXT_DONE_REASON_STOP_SEQUENCE]: 'limit',
};
