import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  GenerateRequest,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig, type SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { streamCall } from '../../src/grpc/client.js';
import { Child } from '../cli/child.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { type Answer, answerOf, attach } from './ask.js';
import { Cluster } from './cluster.js';

const PROMPT = 'Why is the sky blue?';
const TOKENS = 24;
const source = { $case: 'inline', value: PROMPT } as const;
const everything = {
  temperatureMillis: 900,
  topK: 60,
  topPMillis: 950,
  minPMillis: 10,
  repeatPenaltyMillis: 1100,
  repeatLastN: 16,
  presencePenaltyMillis: 300,
  frequencyPenaltyMillis: -200,
};

let cluster: Cluster;
let one: bigint;
let three: bigint;
beforeAll(async () => {
  cluster = await Cluster.start(['alpha', 'beta', 'gamma'], { ownWorkers: true, finished: afterAll });
  one = await cluster.create('one', 1, { sessions: 4 });
  three = await cluster.create('three', 3, { sessions: 4 });
  for (const runId of [one, three]) await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
});
afterAll(async () => expect(await cluster.end()).toEqual([]));

interface Asked {
  readonly sampling?: Partial<SamplingPolicy>;
  readonly seed?: bigint;
  readonly stop?: string[];
}

function ask(runId: bigint, { sampling, seed, stop }: Asked = {}): Promise<Answer> {
  const runtime = RuntimeConfig.fromPartial({ maxTokens: TOKENS, prompt: { source }, sampling, stop });
  return answerOf(streamCall(cluster.client, Service.generate, GenerateRequest.fromPartial({ runId, runtime, seed })));
}

const said = ({ text, tokenIds }: Answer) => ({ text, tokenIds });

async function stageplane(...words: string[]) {
  return new Child([...words, '--orchestrator', cluster.address]).end();
}

describe('a run that serves', () => {
  const ways: Asked[] = [{}, { sampling: everything, seed: 1n }, { sampling: everything, seed: 2n }, { seed: 3n }];

  it('gives each of the answers under way what it asked for, whatever the others ask and however it is cut', async () => {
    const alone: unknown[] = [];
    for (const way of ways) alone.push(said(await ask(one, way)));
    const together = await Promise.all(ways.map((way) => ask(three, way)));
    expect(together.map(said)).toEqual(alone);
    expect(alone[1]).not.toEqual(alone[2]);
    expect(alone[1]).not.toEqual(alone[0]);
    // Greedy draws nothing.
    expect(alone[3]).toEqual(alone[0]);
  });

  it('ends an answer before a stop text, and says so', async () => {
    const whole = await ask(three);
    const stop = whole.text.slice(9, 12);
    const cut = await ask(three, { stop: ['no such text', stop] });
    expect(cut.text).toBe(whole.text.slice(0, whole.text.indexOf(stop)));
    const generatedTokens = cut.tokenIds.length;
    const reason = TextDoneReason.TEXT_DONE_REASON_STOP_SEQUENCE;
    expect(cut.end).toMatchObject({ $case: 'done', value: { reason, generatedTokens } });
    expect(whole.tokenIds.slice(0, generatedTokens)).toEqual(cut.tokenIds);
  });

  it('takes it from the command line, and the rest from its plan', async () => {
    const flags = ['--max-tokens', String(TOKENS), '--json'];
    const { stdout, code } = await stageplane(
      ...['generate', String(three), PROMPT, ...flags],
      ...['--temperature', '0.9', '--top-p', '0.5', '--presence-penalty', '-0.5', '--seed', '5', '--stop', 'never'],
    );
    expect(code).toBe(0);
    const text = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).text ?? '')
      .join('');
    const sampling = { temperatureMillis: 900, topPMillis: 500, presencePenaltyMillis: -500 };
    expect(text).toBe((await ask(one, { sampling, seed: 5n, stop: ['never'] })).text);
  });
});

describe('a run for one prompt', () => {
  it('is answered as its plan samples and stops, and verify finds the same', async () => {
    const answered = async (stop: string[]) => {
      const runtime = RuntimeConfig.fromPartial({ maxTokens: TOKENS, prompt: { source }, sampling: everything, stop });
      const parts = { mode: RunMode.RUN_MODE_ONE_SHOT, runtime };
      const runId = await cluster.create(`once ${stop.length}`, 3, { seed: 1n }, parts);
      await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_DONE);
      return { runId, answer: await answerOf(attach(cluster.client, runId)) };
    };
    const whole = await answered([]);
    expect(said(whole.answer)).toEqual(said(await ask(one, { sampling: everything, seed: 1n })));
    const stop = whole.answer.text.slice(9, 12);
    const cut = await answered([stop]);
    expect(cut.answer.text).toBe(whole.answer.text.slice(0, whole.answer.text.indexOf(stop)));
    for (const { runId } of [whole, cut]) {
      const { code, stdout } = await stageplane('verify', String(runId), '--json');
      expect(JSON.parse(stdout)).toMatchObject({ identical: true, verdict: 'kept' });
      expect(code).toBe(0);
    }
  });
});
