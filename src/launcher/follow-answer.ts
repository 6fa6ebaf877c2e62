import {
  GenerateRequest,
  type GenerateResponse,
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { streamCall } from '../grpc/client.js';
import { backOff, isWorthWaiting, readRun } from './follow-run.js';

/** How much of an answer its reader has. */
interface Position {
  /** UTF-16 units of the text. */
  text: number;
  tokens: number;
}

/**
 * The answer of a ONE_SHOT run, across broken streams: each opens it from its beginning, and what came before is left out.
 * Throws RpcError when it breaks off with its generation, and as `followRun` does.
 */
export async function* followAnswer(
  client: OrchestratorServiceClient,
  { runId, generation }: Pick<Run, 'runId' | 'generation'>,
  signal: AbortSignal,
): AsyncGenerator<GenerateResponse, void, undefined> {
  const request = GenerateRequest.fromPartial({ runId, attach: true });
  const read = { text: 0, tokens: 0 };
  let heard = Date.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const response of unread(streamCall(client, service.generate, request, { signal }), read)) {
        attempt = 0;
        heard = Date.now();
        yield response;
      }
      return;
    } catch (error) {
      if (!isWorthWaiting(error, heard, signal)) throw error;
      const run = await readRun(client, runId, signal);
      if (!run || !hasAnswer(run, generation)) throw error;
    }
    await backOff(attempt, signal);
  }
}

/** What a reader does not have yet of an answer that is told from its beginning. */
async function* unread(
  responses: AsyncIterable<GenerateResponse>,
  read: Position,
): AsyncGenerator<GenerateResponse, void, undefined> {
  const told: Position = { text: 0, tokens: 0 };
  for await (const response of responses) {
    const text = response.text.slice(Math.max(read.text - told.text, 0));
    const tokenIds = response.tokenIds.slice(Math.max(read.tokens - told.tokens, 0));
    told.text += response.text.length;
    told.tokens += response.tokenIds.length;
    read.text = Math.max(read.text, told.text);
    read.tokens = Math.max(read.tokens, told.tokens);
    if (text !== '' || tokenIds.length > 0 || response.end) yield { ...response, text, tokenIds };
  }
}

/** Whether it is being answered still, or was to the end. */
function hasAnswer(run: Run, generation: number): boolean {
  if (run.generation !== generation) return false;
  return run.phase === RunPhase.RUN_PHASE_RUNNING || run.outcome === RunOutcome.RUN_OUTCOME_COMPLETED;
}
