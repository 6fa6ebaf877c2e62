import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { Run, RunPhase } from '../../gen/stageplane/v1/run.js';
import { TextAnswer } from '../../gen/stageplane/v1/token_endpoint.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { descendantsOf } from '../../src/process/descendants.js';
import { Child } from '../cli/child.js';
import { afterFile } from '../support/after-file.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';

const TOKENS = 24;

const finished = afterFile();
let cluster: Cluster;
/** Where the processes of `verify` keep their files. */
let temporary: string;
let oneShot: bigint;
let serving: bigint;

beforeAll(async () => {
  cluster = await Cluster.start(['alpha', 'beta', 'gamma'], { ownWorkers: true, finished });
  temporary = join(cluster.folder, 't');
  mkdirSync(temporary);
  const sampling = { temperatureMillis: 800, topK: 40 };
  const prompt = { source: { $case: 'inline', value: 'Why is the sky blue?' } } as const;
  const runtime = RuntimeConfig.fromPartial({ maxTokens: TOKENS, sampling, prompt });
  oneShot = await cluster.create('once', 3, { seed: 7n }, { mode: RunMode.RUN_MODE_ONE_SHOT, runtime });
  serving = await cluster.create('serving', 2, { sessions: 4 });
  await Promise.all([
    watchUntil(cluster.client, oneShot, RunPhase.RUN_PHASE_DONE),
    watchUntil(cluster.client, serving, RunPhase.RUN_PHASE_RUNNING),
  ]);
});

function start(...words: readonly string[]): Child {
  return new Child(['verify', ...words, '--orchestrator', cluster.address], { TMPDIR: temporary });
}

async function verify(...words: readonly string[]) {
  const ended = await start(...words).end();
  expect(readdirSync(temporary)).toEqual([]);
  return ended;
}

/** Changes what the orchestrator has stored, while it is away. */
async function tamper(change: (db: Database.Database) => void): Promise<void> {
  await cluster.kill('orchestrator', 'SIGTERM');
  const db = new Database(join(cluster.folder, 'orchestrator', 'stageplane.db'));
  change(db);
  db.close();
  await cluster.startOrchestrator();
}

describe('stageplane verify', () => {
  it('finds the text of a run that is done identical, and says what that means', async () => {
    const { code, stdout, stderr } = await verify(String(oneShot));
    expect(stderr).toBe(`run ${oneShot} said ${TOKENS} tokens; asking the whole model, ${cluster.model}\n`);
    expect(stdout).toMatch(
      new RegExp(
        `^identical: ${TOKENS} of ${TOKENS} tokens of run ${oneShot} are those of the whole model in one process\n` +
          'promised: +same kernels on every node.*\n' +
          "kernels: +the same here and on the run's nodes: stageplane .*fixture 1\n",
      ),
    );
    expect(code).toBe(0);
  });

  it('asks a run that serves first, however many conversations that may hold', async () => {
    const { code, stdout } = await verify(String(serving), '--prompt', 'And at night?', '--max-tokens', '9', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      runId: String(serving),
      identical: true,
      verdict: 'kept',
      tokens: 9,
      agreeingTokens: 9,
      kernels: { comparison: 'same', nodes: [{ nodeId: '2' }, { nodeId: '3' }] },
      model: { path: cluster.model },
    });
    expect(code).toBe(0);
  });

  it('says what is missing, and what is too much', async () => {
    const silent = await verify(String(serving));
    expect([silent.code, silent.stderr]).toEqual([
      2,
      `stageplane: --prompt: is needed: run ${serving} is SERVING and has no answer of its own\n`,
    ]);
    const asked = await verify(String(oneShot), '--prompt', 'And at night?');
    expect([asked.code, asked.stderr]).toEqual([
      2,
      `stageplane: --prompt: cannot be given to run ${oneShot}, which answers a prompt of its own: leave it out\n`,
    ]);
    const bare = await verify(String(oneShot), '--max-tokens', '3', '--chat');
    expect([bare.code, bare.stderr]).toEqual([
      2,
      expect.stringMatching(/--chat: is about .*\n.*--max-tokens: is about/),
    ]);
  });

  it('compares with no other model, and finds the right one under another folder', async () => {
    const elsewhere = join(cluster.folder, 'elsewhere');
    mkdirSync(elsewhere);
    const [other] = await writeTinyModel(join(elsewhere, 'other.gguf'), { layers: 4 });
    const refused = await verify(String(oneShot), '--model', other);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(/other\.gguf has digest [0-9a-f]{64}, but the run's model has [0-9a-f]{64}: name/);
    const missing = await verify(String(oneShot), '--model', join(elsewhere, 'none.gguf'), '--json');
    expect([missing.code, JSON.parse(missing.stderr).reason]).toEqual([2, 'NOTHING_COMPARED']);
    const [copy] = await writeTinyModel(join(elsewhere, 'copy.gguf'));
    expect((await verify(String(oneShot), '--model', copy)).code).toBe(0);
  });

  it('notices other weights under the same header: the digest does not', async () => {
    const [other] = await writeTinyModel(join(cluster.folder, 'other-weights.gguf'), { seed: 2 });
    const { code, stdout } = await verify(String(oneShot), '--model', other);
    expect(stdout).toMatch(/^different: the first \d+ of 24 tokens/);
    expect(code).toBe(1);
  });

  it('leaves no process and no file behind when it is interrupted', async () => {
    const child = start(String(serving), '--prompt', 'tell me a long story', '--max-tokens', '1500');
    await child.shown('stderr', 'asking the whole model');
    const processes = () => descendantsOf(child.process.pid!);
    while (processes().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const started = processes();
    child.interrupt();
    expect((await child.end()).code).toBe(130);
    expect(started.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('tells another seed, and an answer in which one token was exchanged', async () => {
    await tamper((db) => changeSeed(db, 8n));
    const seed = await verify(String(oneShot), '--json');
    expect(seed.code).toBe(1);
    expect(JSON.parse(seed.stdout)).toMatchObject({ identical: false, verdict: 'expected', tokens: TOKENS });

    await tamper((db) => {
      changeSeed(db, 7n);
      exchangeToken(db, 5);
    });
    const { code, stdout } = await verify(String(oneShot));
    expect(stdout).toMatch(
      new RegExp(
        `^different: the first 5 of ${TOKENS} tokens of run ${oneShot} are those of .*\n` +
          'differs at: +token 5, counted from 0\nafter: +".*"\n' +
          'run: +".*" \\(token \\d+\\)\nwhole model: +".*" \\(token \\d+\\)\n',
      ),
    );
    expect(code).toBe(1);
  });
});

function changeSeed(db: Database.Database, seed: bigint): void {
  const planned = Run.decode(db.prepare('SELECT planned FROM plans WHERE run_id = ?').pluck().get(oneShot) as Buffer);
  for (const stage of planned.settings) stage.seed = seed;
  db.prepare('UPDATE plans SET planned = ? WHERE run_id = ?').run(Run.encode(planned).finish(), oneShot);
}

function exchangeToken(db: Database.Database, index: number): void {
  const stored = db.prepare('SELECT answer FROM answers WHERE run_id = ?').pluck().get(oneShot) as Buffer;
  const answer = TextAnswer.decode(stored);
  answer.tokenIds[index]! ^= 1;
  db.prepare('UPDATE answers SET answer = ? WHERE run_id = ?').run(TextAnswer.encode(answer).finish(), oneShot);
}
