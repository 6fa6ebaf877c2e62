import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../src/package-root.js';
import { descendantsOf, isAlive } from '../../src/process/descendants.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { freePorts, installProgram } from './machines.js';

const text = (name: string, folder = packageRoot()) => readFileSync(join(folder, name), 'utf8');

const section = text('README.md')
  .split(/^## /m)
  .find((part) => part.startsWith('The first hour\n'));

/** The commands of the README's first hour, block by block. */
const [nodes = [], asking = [], looking = []] = [...(section ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, block = '']) => block.split('\n').filter((line) => line.startsWith('stageplane ')),
);

test('whoever has the README alone starts three nodes, asks, watches, reads why a run failed, and stops it all', async () => {
  const shell = await Shell.open();
  expect(text('README.md')).toContain('`stageplane demo --write-model llama.gguf`');
  await shell.run('stageplane demo --write-model llama.gguf');

  const daemons = nodes.filter((line) => / (orchestrator|agent) /.test(line)).map((line) => shell.start(line));
  expect(daemons).toHaveLength(4);
  await expect
    .poll(() => shell.run('stageplane nodes list || true'), { timeout: 60_000 })
    .toMatch(/(.*schedulable.*\n){3}/);
  for (const line of nodes.filter((one) => one.startsWith('stageplane plan '))) await shell.run(line);
  expect(await shell.run('stageplane plan llama.gguf --stages 3')).toMatch(/ 3 .* selected$/m);

  const [answered = '', served = '', ...others] = asking;
  expect(await shell.run(served)).toMatch(/run 1 is RUNNING\n$/);
  writeFileSync(join(shell.folder, 'prompt.txt'), 'One, two,');
  for (const line of others.filter((one) => !one.startsWith('stageplane chat'))) await shell.run(asked(line, 1));
  expect(text('answer.txt', shell.folder)).not.toBe('');

  expect(await shell.run('stageplane top --once')).toMatch(/RUNNING .*3\/3/);
  expect(await (await fetch(`http://${shell.http}/v1/models`)).json()).toMatchObject({ data: [{ runs: [1] }] });
  expect((await fetch(`http://${shell.http}/`)).headers.get('content-type')).toMatch(/^text\/html/);

  process.kill(JSON.parse((await shell.run('stageplane runs logs 1 1')).split('\n')[0]!).pid, 'SIGKILL');
  await expect
    .poll(() => shell.run('stageplane runs get 1'))
    .toMatch(/cause: +stage 1 on .*: WORKER_EXITED: .*SIGKILL/);
  expect(text('src/TROUBLESHOOTING.md')).toContain('`WORKER_EXITED`');
  await shell.run(asked(answered, 1));
  expect(await shell.run('stageplane runs list')).toMatch(/DONE +COMPLETED[\s\S]*DONE +FAULTED/);

  expect(await shell.run(served)).toMatch(/run 3 is RUNNING\n$/);
  expect(looking).toHaveLength(5);
  for (const line of looking) await shell.run(looked(line, 3));
  expect(await shell.run('stageplane nodes list')).toMatch(/laptop +drained/);

  const left = daemons.flatMap(({ pid }) => descendantsOf(pid!));
  for (const daemon of daemons.reverse()) {
    daemon.kill('SIGTERM');
    expect(await once(daemon, 'exit')).toEqual([0, null]);
  }
  await expect.poll(() => left.filter(isAlive)).toEqual([]);
}, 180_000);

/** A line of the README about some run, about this one, and with a bound: random weights never stop by themselves. */
function asked(line: string, runId: number): string {
  const bounded = line.includes('--max-tokens')
    ? line
    : line.replace(/^(stageplane \w+ [^>#]*?)(?=\s*([>#]|$))/, '$1 --max-tokens 8');
  return bounded.replace(/^(stageplane generate) 7/, `$1 ${runId}`);
}

/** A line that looks at some run, at this one; a screen once, since here is no terminal. */
function looked(line: string, runId: number): string {
  return line.replace(/^(stageplane runs \w+) 7/, `$1 ${runId}`).replace(/^(stageplane top)\b/, '$1 --once');
}

/** A clean home with the command `stageplane`, and ports of its own. */
class Shell {
  private constructor(
    readonly folder: string,
    readonly http: string,
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async open(): Promise<Shell> {
    const folder = temporaryFolder();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    installProgram(bin);
    const { control } = await freePorts();
    const [listen, http] = [`127.0.0.1:${control}`, `127.0.0.1:${control + 1}`];
    const places = { PATH: `${bin}:${process.env.PATH ?? ''}`, HOME: folder, XDG_RUNTIME_DIR: folder };
    const settings = { STAGEPLANE_LISTEN: listen, STAGEPLANE_HTTP: http, STAGEPLANE_ORCHESTRATOR: listen };
    return new Shell(folder, http, { ...places, ...settings });
  }

  start(line: string): ChildProcess {
    const child = this.spawn(`exec ${line}`);
    child.stdout?.resume();
    child.stderr?.resume();
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  }

  /** What a line printed; throws what it complained of when it fails. */
  async run(line: string): Promise<string> {
    const child = this.spawn(line);
    let [stdout, stderr] = ['', ''];
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${line} ended with ${code}: ${stderr}`);
    return stdout;
  }

  private spawn(line: string): ChildProcess {
    return spawn('/bin/sh', ['-c', line], {
      cwd: this.folder,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}
