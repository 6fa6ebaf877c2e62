import { Metadata } from '@grpc/grpc-js';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  GenerateRequest,
  type GenerateResponse,
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { type RuntimeConfig, SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { RunPhase, type TextLoad } from '../../gen/stageplane/v1/run.js';
import { limits } from '../../src/core/limits.js';
import { dial, streamCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { fromServiceError } from '../../src/grpc/from-service-error.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import { Child } from '../cli/child.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';
import { idle } from './idle.js';
import { storyModel, storyPrompt } from './story.js';

const cluster = await Cluster.start(['alpha'], {
  flags: ['--heartbeat', '500ms'],
  tiny: storyModel,
  ownWorkers: true,
  finished: afterAll,
});
afterAll(async () => expect(await cluster.end()).toEqual([]));
const { client } = cluster;
const runId = await cluster.create(
  'serving',
  1,
  { contextLength: storyModel.contextLength, sessions: 1 },
  { runtime: { maxTokens: 20_000, prompt: undefined, sampling: undefined, tokenOutputPolicy: 0, stop: [] } },
);
await watchUntil(client, runId, RunPhase.RUN_PHASE_RUNNING);

type Asked = Partial<Omit<GenerateRequest, 'runtime'>> & { readonly runtime?: Partial<RuntimeConfig> };
const inline = (value: string) => ({ prompt: { source: { $case: 'inline', value } } }) as const;
const user = (content: string) => ({ role: 'user', content });

async function read(responses: AsyncIterable<GenerateResponse>) {
  let text = '';
  let end: GenerateResponse['end'];
  for await (const response of responses) {
    text += response.text;
    end = response.end;
  }
  return { text, end };
}

function ask(asked: Asked) {
  return read(streamCall(client, Service.generate, requestOf(asked)));
}

function requestOf(asked: Asked): GenerateRequest {
  return GenerateRequest.fromPartial({ runId, ...asked } as GenerateRequest);
}

/** Asks with bytes of one's own making. */
async function askRaw(bytes: Uint8Array) {
  const { path, responseDeserialize } = Service.generate;
  const call = client.makeServerStreamRequest(path, Buffer.from, responseDeserialize, bytes, new Metadata(), {});
  try {
    return await read(call as AsyncIterable<GenerateResponse>);
  } catch (error) {
    throw fromServiceError(error as Error);
  }
}

describe('a bad request for text', () => {
  const fields = (...names: string[]) => ({
    reason: 'INVALID_FIELDS',
    codeName: 'INVALID_ARGUMENT',
    fieldViolations: names.map((field) => expect.objectContaining({ field })),
  });
  const long = 'x'.repeat(limits.promptBytes + 1);

  it.each<[string, Asked, object]>([
    ['no prompt', {}, fields('runtime.prompt')],
    ['an empty prompt', { runtime: inline('') }, fields('runtime.prompt')],
    ['a prompt of too many bytes', { runtime: inline(long) }, fields('runtime.prompt.inline')],
    ['prompt and messages', { runtime: inline('a'), messages: [user('b')] }, fields('messages')],
    ['a role that is empty', { messages: [{ role: '', content: 'a' }] }, fields('messages[0].role')],
    ['too many messages', { messages: Array.from({ length: 1025 }, () => user('')) }, fields('messages')],
    ['messages of too many bytes', { messages: [user(long.slice(9)), user('123456789a')] }, fields('messages')],
    [
      'a conversation name that is too long',
      { runtime: inline('a'), conversation: 'c'.repeat(129) },
      fields('conversation'),
    ],
    [
      'sampling and stop texts that nobody can follow',
      {
        runtime: {
          ...inline('a'),
          sampling: SamplingPolicy.create({ topPMillis: 1001, presencePenaltyMillis: -2001 }),
          stop: ['a', ''],
        },
      },
      fields('runtime.sampling.top_p_millis', 'runtime.sampling.presence_penalty_millis', 'runtime.stop[1]'),
    ],
    [
      'attach and a prompt',
      { attach: true, runtime: inline('a'), conversation: 'c' },
      fields('runtime', 'conversation'),
    ],
    [
      'more tokens than planned',
      { runtime: { ...inline('a'), maxTokens: 20_001 } },
      { reason: 'MAX_TOKENS_OVER_PLAN', metadata: { actual: '20001', allowed: '20000' } },
    ],
    [
      'a run that is not there',
      { runId: 99n, runtime: inline('a') },
      { reason: 'RUN_NOT_FOUND', codeName: 'NOT_FOUND' },
    ],
    [
      'messages for a model without a chat template',
      { messages: [user('a')] },
      { reason: 'CHAT_TEMPLATE', codeName: 'FAILED_PRECONDITION' },
    ],
  ])('with %s is answered with what is wrong', async (_what, asked, error) => {
    await expect(ask(asked)).rejects.toMatchObject(error);
  });

  it('whose text is no UTF-8 is read with U+FFFD in its place, and takes nobody along', async () => {
    const sound = GenerateRequest.encode(requestOf({ runtime: { ...inline('~~'), maxTokens: 1 } })).finish();
    const at = Buffer.from(sound).indexOf('~~');
    const replaced = (await ask({ runtime: { ...inline('\ufffd\ufffd'), maxTokens: 1 } })).text;
    for (const bad of [
      [0xff, 0xfe],
      [0xc3, 0xff],
      [0x80, 0x80],
    ]) {
      const bytes = Uint8Array.from(sound);
      bytes.set(bad, at);
      const { text, end } = await askRaw(bytes);
      expect(end).toMatchObject({ $case: 'done', value: { promptTokens: 6 } });
      expect(text).toBe(replaced);
    }
    // No writer of ours sends half of a surrogate pair.
    const half = await ask({ runtime: { ...inline('\ud83e'), maxTokens: 1 } });
    expect(half.end).toMatchObject({ $case: 'done', value: { promptTokens: 3 } });
  });
});

/** A launcher with a connection of its own: one connection may have few calls. */
function dialAnew(): OrchestratorServiceClient {
  const options = { ...clientOptions, 'grpc.use_local_subchannel_pool': 1 };
  const another = dial(cluster.address, OrchestratorServiceClient, options);
  onTestFinished(() => another.close());
  return another;
}

/** Resolves when the endpoint's newest figures are as wanted. */
async function loaded(isSo: (load: TextLoad) => boolean): Promise<void> {
  for (;;) {
    const { textLoad } = await getRun(client, runId);
    if (textLoad && isSo(textLoad)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('launchers of one run', () => {
  const short = requestOf({ runtime: { ...inline('Why?'), maxTokens: 1 } });
  const story = requestOf({ runtime: inline(storyPrompt) });

  it('wait for each other, as many as may, and the others are told to come back', async () => {
    const teller = streamCall(client, Service.generate, story);
    await teller.next();
    let refused = 0;
    let othersRefused = () => {};
    const settled = new Promise<void>((resolve) => {
      othersRefused = resolve;
    });
    const askOnce = async (launcher: OrchestratorServiceClient) => {
      try {
        return (await read(streamCall(launcher, Service.generate, short))).end?.$case;
      } catch (error) {
        refused += 1;
        if (refused === 300 - limits.waitingPrompts) othersRefused();
        const { reason, codeName, message } = error as RpcError;
        return `${codeName} ${reason}: ${message}`;
      }
    };
    const answers = Array.from({ length: 3 }, dialAnew).flatMap((launcher) =>
      Array.from({ length: 100 }, () => askOnce(launcher)),
    );
    await settled;
    await teller.return();
    const ends = await Promise.all(answers);
    expect(ends.filter((end) => end === 'done')).toHaveLength(limits.waitingPrompts);
    expect([...new Set(ends)].sort()).toEqual([
      'RESOURCE_EXHAUSTED TOO_MANY_REQUESTS: 256 prompts wait for this run already: try again when some are answered',
      'done',
    ]);
    await idle(client, runId);
  });

  it('that vanish while they wait and while they read leave nothing behind', async () => {
    const words = ['generate', String(runId), storyPrompt, '--orchestrator', cluster.address];
    const reader = new Child(words);
    await reader.shown('stdout', 64);
    const waiter = new Child(words);
    await loaded(({ waitingPrompts }) => waitingPrompts === 1);
    for (const { process } of [waiter, reader]) process.kill('SIGKILL');
    await idle(client, runId);
    expect((await read(streamCall(client, Service.generate, short))).end?.$case).toBe('done');
  });

  it('find what their conversations have in common, whatever those are called', async () => {
    const turn = async (conversation: string, text: string) => {
      const { end } = await ask({ runtime: { ...inline(text), maxTokens: 1 }, conversation });
      return end?.$case === 'done' ? end.value.reusedTokens : end;
    };
    for (const name of ['c', 'c'.repeat(128), '__proto__', '日本 🦙']) {
      expect(await turn(name, 'once upon')).toBe(0);
      expect(await turn(name, 'once upon a time')).toBe(9);
    }
  });
});
