import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { Child, type Ended } from '../cli/child.js';
import { TcpProxy } from '../network/tcp-proxy.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';
import { storyModel, storyPrompt } from './story.js';

const cluster = await Cluster.start(['alpha', 'beta', 'gamma'], {
  tiny: storyModel,
  ownWorkers: true,
  finished: afterAll,
});
afterAll(async () => expect(await cluster.end()).toEqual([]));

function run(...flags: string[]): Child {
  return runAt(cluster.address, ...flags);
}

function runAt(address: string, ...flags: string[]): Child {
  // Placed, since how much of this machine's memory is free is not what the tests are about.
  const place = ['--place', '0=alpha,1=beta,2=gamma'];
  const plan = ['--engine', 'fixture', ...place, '--context', String(storyModel.contextLength)];
  return new Child(['run', cluster.model, ...plan, ...flags, '--orchestrator', address]);
}

/** The run that stderr speaks of. */
function runIdOf({ stderr }: Pick<Ended, 'stderr'>): bigint {
  return BigInt(/^run (\d+)$/m.exec(stderr)?.[1] ?? -1);
}

/** A run in the middle of a long answer. */
async function telling(...flags: string[]): Promise<Child> {
  const child = run('--prompt', storyPrompt, ...flags);
  await child.shown('stdout', 64);
  return child;
}

describe('run --prompt', () => {
  it('writes the text alone to stdout, and how it went to stderr', async () => {
    const asked = ['--max-tokens', '20'];
    const { code, stdout, stderr } = await run('--prompt', 'Why is the sky blue?', ...asked).end();
    expect(code).toBe(0);
    expect(stdout).not.toBe('');
    expect(stderr).toMatch(/^run \d+\n/);
    expect(stderr).toContain('  stage 2 on ');
    expect(stderr).toMatch(/\n20 tokens \(as many as were asked for\), [\d.]+ tokens\/s, .*, prompt of 20\n/);
    expect(stderr).toMatch(/\nrun \d+ ended COMPLETED\n$/);

    const piped = run('--prompt', '-', ...asked);
    piped.type('Why is the ');
    piped.type('sky blue?');
    piped.hangUp();
    expect(await piped.end()).toMatchObject({ code: 0, stdout });
  });

  it('is one JSON object per line with --json, and its text is the same', async () => {
    const { stdout: text } = await run('--prompt', 'A', '--max-tokens', '9').end();
    const { code, stdout, stderr } = await run('--prompt', 'A', '--max-tokens', '9', '--json').end();
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0].run.mode).toBe('RUN_MODE_ONE_SHOT');
    expect(lines.map((line) => line.text ?? '').join('')).toBe(text.trimEnd());
    expect(lines.at(-1)).toMatchObject({ done: { reason: 'TEXT_DONE_REASON_MAX_TOKENS', generatedTokens: 9 } });
  });

  it('says what to do about a model without a chat template, and ends FAULTED', async () => {
    const ended = await run('--prompt', 'Hello', '--chat').end();
    expect([ended.code, ended.stdout]).toEqual([4, '']);
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^stageplane: run \d+ ended FAULTED: token-endpoint: PROMPT_REFUSED: the model brings no chat template: leave out --chat, .* or send a prompt, such as to \/v1\/completions, instead of messages$/,
    );
  });

  it('refuses an empty prompt before there is a run', async () => {
    const given = await run('--prompt', '').end();
    expect([given.code, given.stderr]).toEqual([2, expect.stringContaining('--prompt')]);
    const piped = run('--prompt', '-');
    piped.hangUp();
    const { code, stdout, stderr } = await piped.end();
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('--prompt')]);
  });

  it('reads on where its connection broke, and gives the whole answer', async () => {
    const asked = ['--prompt', storyPrompt, '--max-tokens', '2000'];
    const whole = await run(...asked).end();
    const link = await TcpProxy.open(cluster.address);
    onTestFinished(() => link.close());
    const child = runAt(link.address, ...asked);
    await child.shown('stdout', 64);
    link.reset();
    const { code, stdout, stderr } = await child.end();
    expect([code, stderr]).toEqual([0, expect.stringContaining('\n2000 tokens (as many as were asked for)')]);
    expect(stdout).toBe(whole.stdout);
  });

  it('that is repeated prints the answer of its run once more', async () => {
    const asked = ['--prompt', 'A', '--max-tokens', '9', '--request-id', 'once'];
    const first = await run(...asked).end();
    const { code, stdout, stderr } = await run(...asked).end();
    expect([code, stdout, runIdOf({ stderr })]).toEqual([0, first.stdout, runIdOf(first)]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'that gets %s in the middle stops its run, and leaves with 130',
    async (signal) => {
      const child = await telling();
      child.process.kill(signal);
      const ended = await child.end();
      expect(ended.code).toBe(130);
      const runId = runIdOf(ended);
      expect(ended.stderr).toContain(`stageplane: stopping run ${runId}; press Ctrl-C again to leave it alone\n`);
      expect(ended.stderr).toMatch(/run \d+ ended STOPPED\n$/);
      expect(await getRun(cluster.client, runId)).toMatchObject({
        phase: RunPhase.RUN_PHASE_DONE,
        outcome: RunOutcome.RUN_OUTCOME_STOPPED,
      });
    },
  );

  it('that is interrupted twice leaves at once; the stop goes on', async () => {
    const child = await telling();
    const runId = runIdOf(child);
    // It cannot hear the stop, so that the run is not over before somebody kills it.
    process.kill(await cluster.workerOf(runId, 1), 'SIGSTOP');
    child.interrupt();
    await child.shown('stderr', `stopping run ${runId}`);
    child.interrupt();
    const { code, stderr } = await child.end();
    expect(code).toBe(130);
    expect(stderr).toMatch(/left run \d+ alone; look at it with `stageplane runs watch \d+`\n$/);
    await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_DONE);
  });

  it('whose stage dies in the middle ends with 4 and names the stage', async () => {
    const child = await telling();
    const runId = runIdOf(child);
    const { stages } = await getRun(cluster.client, runId);
    const victim = stages[1]!.nodeName;
    process.kill(await cluster.workerOf(runId, 1), 'SIGKILL');
    const { code, stdout, stderr } = await child.end();
    expect(code).toBe(4);
    expect(stdout).toMatch(/\n$/);
    expect(stderr).toMatch(
      new RegExp(
        `\\nstageplane: run ${runId} ended FAULTED: stage 1 on ${victim}, worker: WORKER_EXITED: .* was ended by SIGKILL`,
      ),
    );
  });
});
