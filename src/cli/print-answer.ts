import { GenerateResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { RunCause } from '../../gen/stageplane/v1/run.js';
import type { TextDone } from '../../gen/stageplane/v1/token_endpoint.js';
import { RpcError } from '../grpc/rpc-error.js';
import { answerSummary } from './format/answer-summary.js';
import type { Output } from './output.js';

/** How an answer that was printed ended. */
export type PrintedAnswer = { readonly text: string } & (
  | { readonly kind: 'done'; readonly done: TextDone }
  | { readonly kind: 'faulted'; readonly cause: RunCause }
  /** Whoever asked has had enough. */
  | { readonly kind: 'interrupted' }
);

/** Prints an answer as it comes, and how it went. Throws RpcError when there is no answer, or it breaks off. */
export async function printAnswer(
  output: Output,
  responses: AsyncIterable<GenerateResponse>,
  signal: AbortSignal,
): Promise<PrintedAnswer> {
  let text = '';
  const endLine = () => {
    if (!output.json && text !== '' && !text.endsWith('\n')) output.print('');
  };
  try {
    for await (const response of responses) {
      if (output.json) output.jsonLine(GenerateResponse.toJSON(response));
      else output.text(response.text);
      text += response.text;
      const { end } = response;
      if (end === undefined) continue;
      endLine();
      if (end.$case === 'fault') return { kind: 'faulted', text, cause: end.value };
      if (!output.json) output.aside(answerSummary(end.value));
      return { kind: 'done', text, done: end.value };
    }
  } catch (error) {
    endLine();
    if (error instanceof RpcError && signal.aborted) return { kind: 'interrupted', text };
    throw error;
  }
  return { kind: 'interrupted', text };
}
