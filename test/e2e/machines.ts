import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { packageRoot } from '../../src/package-root.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** As src/OPERATING.md calls them: the orchestrator's, and those of nodes 2 and 3. */
export const names = ['server', 'laptop', 'desktop'] as const;
export type Name = (typeof names)[number];

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The lines of the operator's page about mutual TLS that are commands. */
export function operatorsCommands(): string[] {
  const page = readFileSync(join(packageRoot(), 'src', 'OPERATING.md'), 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith('From loopback to three machines')) ?? '';
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  return block.split('\n').filter((line) => line.startsWith('stageplane '));
}

/** Three machines that are one: each has a home and ports of its own, and lines of a shell that name them mean those. */
export class Machines {
  readonly #daemons = new Map<Name, ChildProcess>();
  readonly #ended: string[] = [];

  private constructor(
    readonly folder: string,
    readonly port: number,
    readonly edgePorts: Readonly<Record<Name, number>>,
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** @param environment of every command; flags may be set there */
  static async prepare(finished: (end: () => unknown) => void, environment: Record<string, string>): Promise<Machines> {
    const folder = temporaryFolder(finished);
    const ports = await freePorts();
    const [server = 0, laptop = 0, desktop = 0] = ports.edges;
    const machines = new Machines(folder, ports.control, { server, laptop, desktop }, environment);
    for (const name of [...names, 'bin', 'models']) mkdirSync(join(folder, name));
    installProgram(join(folder, 'bin'));
    await writeTinyModel(join(folder, 'models', 'llama.gguf'));
    finished(() => machines.end());
    return machines;
  }

  /** The data folder of the daemon of a machine. */
  dataOf(name: Name): string {
    const role = name === 'server' ? 'orchestrator' : 'agent';
    return join(this.folder, name, '.local', 'state', 'stageplane', role);
  }

  /** Where a node takes its edges. */
  edgeAddress(name: Name): string {
    return `127.0.0.1:${this.edgePorts[name]}`;
  }

  /** Runs a line to its end. */
  async run(name: Name, line: string): Promise<Ended> {
    const child = this.#spawn(name, line);
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(child, 'close');
    return { code, stdout, stderr };
  }

  /** Starts a line that goes on. */
  start(name: Name, line: string): ChildProcess {
    const child = this.#spawn(name, `exec ${line}`);
    child.stdout?.resume();
    let log = '';
    child.stderr?.on('data', (chunk) => {
      log = (log + chunk).slice(-4000);
    });
    if (process.env.TEST_LOG) child.stderr?.pipe(process.stderr);
    this.#daemons.set(name, child);
    child.once('exit', () => {
      if (this.#daemons.get(name) === child) this.#ended.push(`the daemon of ${name} ended: ${log}`);
    });
    return child;
  }

  /** Throws when a daemon has ended unasked. */
  mustLive(): void {
    if (this.#ended.length > 0) throw new Error(this.#ended.join('\n'));
  }

  async stop(name: Name, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#daemons.get(name);
    this.#daemons.delete(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async end(): Promise<void> {
    for (const name of [...names].reverse()) await this.stop(name);
  }

  pid(name: Name): number {
    return this.#daemons.get(name)?.pid ?? -1;
  }

  #spawn(name: Name, line: string): ChildProcess {
    const home = join(this.folder, name);
    const { PATH = '' } = process.env;
    const env = {
      PATH: `${join(this.folder, 'bin')}:${PATH}`,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      STAGEPLANE_ORCHESTRATOR: `127.0.0.1:${this.port}`,
      ...this.environment,
    };
    return spawn('/bin/sh', ['-c', this.#adapt(name, line)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  #adapt(name: Name, line: string): string {
    const models = join(this.folder, 'models');
    return line
      .replace('--edge-listen 0.0.0.0:7400', `--edge-listen ${this.edgeAddress(name)}`)
      .replace(/\b(server|laptop|desktop):7400/g, (_, other: Name) => this.edgeAddress(other))
      .replace(/(0\.0\.0\.0|server):7070/g, `127.0.0.1:${this.port}`)
      .replace(/(~)?\/models/g, models);
  }
}

/** Two ports that follow each other, for calls and tokens, and one for the edges of each; none that a connection may get. */
/** The orchestrator's own are three: of launchers and agents, of HTTP, and where tokens are redeemed. */
export async function freePorts(): Promise<{ control: number; edges: number[] }> {
  for (;;) {
    const first = 10_000 + Math.floor(Math.random() * 2_000) * 10;
    const ports = [0, 1, 2, 3, 4, 5].map((offset) => first + offset);
    const open = await Promise.all(ports.map(listenAt));
    for (const server of open) server?.close();
    if (open.every((server) => server !== undefined)) return { control: first, edges: ports.slice(3) };
  }
}

function listenAt(port: number) {
  const server = createServer();
  return new Promise<typeof server | undefined>((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/** Processes below one, with the command line of each. */
export function commandsBelow(pids: readonly number[]): Map<number, string> {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '-p', pids.join(',')], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return new Map(rows.map((row) => [Number(row.trim().split(' ', 1)[0]), row.trim()]));
}

/** Puts the command `stageplane` into a folder that exists. */
export function installProgram(folder: string): void {
  const program = join(folder, 'stageplane');
  const main = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(program, 0o755);
}
