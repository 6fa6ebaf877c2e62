import { afterAll, describe, expect, it } from 'vitest';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { Child, type Ended, failed } from '../cli/child.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';
import { idle } from './idle.js';
import { storyModel, storyPrompt } from './story.js';

const cluster = await Cluster.start(['alpha', 'beta'], {
  flags: ['--heartbeat', '500ms'],
  tiny: storyModel,
  ownWorkers: true,
  finished: afterAll,
});
afterAll(async () => expect(await cluster.end()).toEqual([]));
const runId = await cluster.create('serving', 2, { contextLength: storyModel.contextLength, sessions: 2 });
await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);

function command(...words: string[]): Child {
  return new Child([...words, '--orchestrator', cluster.address]);
}

function generate(...words: string[]): Promise<Ended> {
  return command('generate', ...words).end();
}

describe('generate', () => {
  it('writes the text alone to stdout, from an argument as from stdin', async () => {
    const { code, stdout, stderr } = await generate(String(runId), 'Why?', '--max-tokens', '12');
    expect([code, stdout === '']).toEqual([0, false]);
    expect(stderr).toMatch(/^12 tokens \(as many as were asked for\), .*, prompt of 4\n$/);
    const piped = command('generate', String(runId), '-', '--max-tokens', '12');
    piped.type('Why?');
    piped.hangUp();
    expect(await piped.end()).toMatchObject({ code: 0, stdout });
    const json = await generate(String(runId), 'Why?', '--max-tokens', '12', '--json');
    const lines = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ text = '' }) => text).join('')).toBe(stdout.trimEnd());
    expect(lines.at(-1).done).toMatchObject({ promptTokens: 4, generatedTokens: 12 });
    expect([json.code, json.stderr]).toEqual([0, '']);
  });

  it('that is interrupted cancels its answer, and not the run, which holds nothing of it', async () => {
    const child = command('generate', String(runId), storyPrompt);
    await child.shown('stdout', 64);
    child.interrupt();
    const { code, stdout, stderr } = await child.end();
    expect([code, stderr]).toEqual([130, '']);
    expect(stdout).toMatch(/\n$/);
    expect((await idle(cluster.client, runId)).phase).toBe(RunPhase.RUN_PHASE_RUNNING);
  });

  it.each([
    ['a run that is not there', ['99', 'Why?'], 1, /there is no run 99: look at `stageplane runs list`/],
    ['a word that is no id', ['seven', 'Why?'], 2, /<run>: "seven" is no id/],
    ['an empty prompt', [String(runId), ''], 2, /<prompt>: "" is empty/],
    ['messages of a model without a chat template', [String(runId), 'Hi', '--chat'], 1, /brings no chat template/],
    ['a system message without --chat', [String(runId), 'Hi', '--system', 'Be brief.'], 2, /--system: needs a chat/],
  ])('says what is wrong with %s', async (_what, words, code, sentence) => {
    const ended = await generate(...words);
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    expect(ended.stderr).toMatch(sentence);
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('says that a run is over, and what to do', async () => {
    const over = await cluster.create('over', 1);
    await watchUntil(cluster.client, over, RunPhase.RUN_PHASE_RUNNING);
    await command('runs', 'stop', String(over), '--wait').end();
    await watchUntil(cluster.client, over, RunPhase.RUN_PHASE_DONE);
    expect(await generate(String(over), 'Why?')).toEqual({
      code: 1,
      stdout: '',
      stderr: `stageplane: run ${over} is DONE: create a new one\n`,
    });
  });

  it('ends with 5 when no orchestrator is there', async () => {
    const { code, stdout, stderr } = await new Child(['generate', '1', 'x', '--orchestrator', '127.0.0.1:1']).end();
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toContain('no orchestrator answers at 127.0.0.1:1');
  });
});

describe('chat --plain', () => {
  const chat = () => command('chat', String(runId), '--plain', '--max-tokens', '8');

  it('answers line after line, and each turn costs only what is new in it', async () => {
    const child = chat();
    child.type('Hello\n\nAnd again\n');
    child.hangUp();
    const { code, stdout, stderr } = await child.end();
    expect([code, stdout === '']).toEqual([0, false]);
    const [first, second, third] = stderr.trimEnd().split('\n').slice(1);
    expect(stderr).toMatch(new RegExp(`^run ${runId}, same kernels on every node`));
    expect(first).toMatch(/^8 tokens .*, prompt of 6$/);
    expect(second).toMatch(/^8 tokens .*, prompt of \d+, \d+ of them known already$/);
    expect(third).toBeUndefined();
  });

  it('that is interrupted in the middle of an answer answers the next line all the same', async () => {
    const short = await cluster.create('short', 2, { contextLength: 4096 });
    await watchUntil(cluster.client, short, RunPhase.RUN_PHASE_RUNNING);
    const child = command('chat', String(short), '--plain');
    child.type(`${storyPrompt}\n`);
    await child.shown('stdout', 64);
    child.interrupt();
    child.type('Enough\n');
    child.hangUp();
    const { code, stderr } = await child.end();
    expect(code).toBe(0);
    // The first answer has no such line.
    expect(stderr.match(/ tokens\/s, first token after /g)).toHaveLength(1);
    expect(stderr).toMatch(/, \d+ of them known already\n$/);
  });

  it('leaves on Ctrl-C while nothing is answered', async () => {
    const child = chat();
    await child.shown('stderr', `run ${runId}`);
    child.interrupt();
    expect((await child.end()).code).toBe(0);
  });

  it('ends with 4 and the stage that died in the middle of an answer', async () => {
    const victim = await cluster.create('victim', 2, { contextLength: storyModel.contextLength });
    await watchUntil(cluster.client, victim, RunPhase.RUN_PHASE_RUNNING);
    const child = command('chat', String(victim), '--plain');
    child.type(`${storyPrompt}\n`);
    await child.shown('stdout', 64);
    process.kill(await cluster.workerOf(victim, 0), 'SIGKILL');
    const { code, stderr } = await child.end();
    const { stages } = await getRun(cluster.client, victim);
    expect(code).toBe(4);
    expect(stderr).toContain(
      `stageplane: run ${victim} ended FAULTED before the answer did: stage 0 on ${stages[0]!.nodeName}, worker: WORKER_EXITED: `,
    );
    await watchUntil(cluster.client, victim, RunPhase.RUN_PHASE_DONE);
    // Nobody types to it before it is said.
    expect(await command('chat', String(victim)).end()).toEqual(failed(1, `run ${victim} is DONE: create a new one`));
  });
});
