import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { GenerateRequest, type GenerateResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { TextDone, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { revision, runId } from '../../../src/core/ids.js';
import { limits } from '../../../src/core/limits.js';
import { StreamWriter } from '../../../src/grpc/stream-writer.js';
import { serveAnswer } from '../../../src/orchestrator/text/serve-answer.js';
import type { AnswerReader } from '../../../src/token-endpoint/open-answers.js';
import { sampleRun } from '../../store/sample-changes.js';

/** A launcher's call that has no room after some messages, until it is drained. */
class SlowCall extends EventEmitter {
  readonly cancelled = false;
  readonly written: GenerateResponse[] = [];
  constructor(private room: number) {
    super();
  }

  write(message: GenerateResponse): boolean {
    this.written.push(message);
    this.room -= 1;
    return this.room > 0;
  }

  drain(room: number): void {
    this.room = room;
    this.emit('drain');
  }

  end(): void {}
}

function serve(room: number) {
  const call = new SlowCall(room);
  const stream = new StreamWriter<GenerateResponse>(call as unknown as ServerWritableStream<unknown, GenerateResponse>);
  const said = { acknowledged: [] as number[], cancelled: [] as string[] };
  let reader!: AnswerReader;
  const endpoint = {
    run: sampleRun(runId(1n), revision(1n), 1),
    generate: (_request: unknown, asked: AnswerReader) => {
      reader = asked;
      return 'g1';
    },
    acknowledge: (_id: string, tokens: number) => void said.acknowledged.push(tokens),
    cancel: (_id: string, reason: string) => void said.cancelled.push(reason),
  };
  const end = serveAnswer(endpoint, GenerateRequest.fromPartial({ runId: 1n }), stream);
  const say = (tokens: number) => {
    for (let token = 0; token < tokens; token += 1) reader.delta({ requestId: 'g1', text: 'a', tokenIds: [token] });
  };
  return { call, stream, said, end, say, reader };
}

describe('a launcher', () => {
  it('that reads nothing is told of no further than it has room, and again when it has', async () => {
    const { call, stream, said, say } = serve(100);
    say(limits.tokensPerAcknowledgement);
    await turn();
    expect(said.acknowledged).toEqual([64]);
    // The endpoint goes no further than this without a word.
    say(limits.unreadTokens);
    await turn();
    expect(said.acknowledged).toEqual([64]);
    expect([call.written.length, stream.queued]).toEqual([100, 220]);
    expect(stream.isOpen).toBe(true);
    call.drain(1000);
    await turn();
    expect(said.acknowledged).toEqual([64, 128, 320]);
    expect([call.written.length, stream.queued]).toEqual([320, 0]);
  });

  it('that was too slow is told so at its end', async () => {
    const { reader, end } = serve(1);
    const reason = TextDoneReason.TEXT_DONE_REASON_SLOW_READER;
    reader.done(TextDone.fromPartial({ requestId: 'g1', reason, message: 'read faster' }));
    expect(await end).toMatchObject({ requestId: '', reason, message: 'read faster' });
  });

  it('that vanishes has its answer cancelled, and nobody is acknowledged for it', async () => {
    const { call, said, end, say } = serve(1);
    say(limits.unreadTokens);
    call.emit('cancelled');
    expect(await end).toBeUndefined();
    expect(said).toEqual({ acknowledged: [], cancelled: ['the launcher went away'] });
  });
});
