import { status } from '@grpc/grpc-js';
import type { GenerateRequest, GenerateResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { type TextDone, TextRefusalReason, type TextRefused } from '../../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../../core/limits.js';
import { RpcError } from '../../grpc/rpc-error.js';
import type { StreamWriter } from '../../grpc/stream-writer.js';
import { askedText } from './asked-text.js';
import type { RunEndpoint } from './run-endpoint.js';

/**
 * Answers a prompt, as fast as the launcher reads; gives how the answer ended, or undefined when the launcher went away.
 * Throws RpcError when the endpoint does not take the prompt.
 */
export async function serveAnswer(
  endpoint: Pick<RunEndpoint, 'run' | 'generate' | 'acknowledge' | 'cancel'>,
  request: GenerateRequest,
  stream: StreamWriter<GenerateResponse>,
): Promise<TextDone | undefined> {
  return new Promise((resolve, reject) => {
    const pace = new ReaderPace(stream, (tokens) => endpoint.acknowledge(requestId, tokens));
    const requestId = endpoint.generate(askedText(endpoint.run, request), {
      delta: ({ text, tokenIds }) => {
        stream.write({ text, tokenIds });
        pace.sent(tokenIds.length);
      },
      done: (done) => resolve({ ...done, requestId: '' }),
      refused: (refusal) => reject(refusedPrompt(refusal)),
    });
    void stream.closed.then(({ kind }) => {
      if (kind !== 'ended') endpoint.cancel(requestId, 'the launcher went away');
      resolve(undefined);
    });
  });
}

/** Tells how far a reader has come: only what it has really taken, and not for every token. */
class ReaderPace {
  #sent = 0;
  #told = 0;
  #isWaiting = false;

  constructor(
    private readonly stream: StreamWriter<GenerateResponse>,
    private readonly tell: (tokens: number) => void,
  ) {}

  sent(tokens: number): void {
    this.#sent += tokens;
    if (!this.#isWaiting && this.#sent - this.#told >= limits.tokensPerAcknowledgement) void this.#wait();
  }

  async #wait(): Promise<void> {
    this.#isWaiting = true;
    const sent = this.#sent;
    await this.stream.ready();
    this.#isWaiting = false;
    if (!this.stream.isOpen) return;
    this.#told = sent;
    this.tell(sent);
    this.sent(0);
  }
}

const refusalCodes: Partial<Record<TextRefusalReason, status>> = {
  [TextRefusalReason.TEXT_REFUSAL_REASON_NOT_READY]: status.UNAVAILABLE,
  [TextRefusalReason.TEXT_REFUSAL_REASON_TOO_MANY_REQUESTS]: status.RESOURCE_EXHAUSTED,
  [TextRefusalReason.TEXT_REFUSAL_REASON_CHAT_TEMPLATE]: status.FAILED_PRECONDITION,
};

function refusedPrompt({ reason, message, actual, allowed }: TextRefused): RpcError {
  const name = TextRefusalReason[reason].replace('TEXT_REFUSAL_REASON_', '');
  const metadata: Record<string, string> = allowed > 0 ? { actual: String(actual), allowed: String(allowed) } : {};
  return new RpcError(refusalCodes[reason] ?? status.INVALID_ARGUMENT, name, message, { metadata });
}
