import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { GenerateResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { TextDone, TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { saidAnswer } from '../../src/cli/said-answer.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { sampleCause } from './sample.js';

const idle = new AbortController().signal;

async function* stream(...responses: (Partial<GenerateResponse> | Error)[]) {
  for (const response of responses) {
    if (response instanceof Error) throw response;
    yield { text: '', tokenIds: [], ...response };
  }
}

const some = { text: 'the sky', tokenIds: [5, 6] };
const done = (reason: TextDoneReason) => ({ end: { $case: 'done', value: TextDone.fromPartial({ reason }) } }) as const;
const fault = { end: { $case: 'fault', value: sampleCause } } as const;
const cutOff = new RpcError(status.UNAVAILABLE, 'ANSWER_CUT_OFF', 'the answer of run 7 was cut off');

describe('what a run has said', () => {
  it.each([
    [TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION, 'model'],
    [TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS, 'limit'],
    [TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL, 'limit'],
    [TextDoneReason.TEXT_DONE_REASON_CANCELLED, 'broken-off'],
  ] as const)('ends as the answer does: %s is %s', async (reason, end) => {
    const said = await saidAnswer(stream(some, { text: ' is', tokenIds: [7] }, done(reason)), idle);
    expect(said).toEqual({ kind: 'said', answer: { text: 'the sky is', tokenIds: [5, 6, 7], end } });
  });

  it('counts although the run has faulted, or was stopped', async () => {
    const answer = { ...some, end: 'broken-off' };
    expect(await saidAnswer(stream(some, fault), idle)).toEqual({ kind: 'said', answer });
    expect(await saidAnswer(stream(some, cutOff), idle)).toEqual({ kind: 'said', answer });
  });

  it('is nothing when the run ended before its first token, when nobody waits, or when the orchestrator is away', async () => {
    expect(await saidAnswer(stream(fault), idle)).toEqual({ kind: 'faulted', cause: sampleCause });
    expect(await saidAnswer(stream(some, cutOff), AbortSignal.abort())).toEqual({ kind: 'interrupted' });
    await expect(saidAnswer(stream(cutOff), idle)).rejects.toBe(cutOff);
    const away = new RpcError(status.UNAVAILABLE, 'UNAVAILABLE', 'no orchestrator answers');
    await expect(saidAnswer(stream(some, away), idle)).rejects.toBe(away);
  });
});
