import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { type ComposeFile, imageSays, type Service } from './compose-file.js';

/**
 * Runs the services of a compose file as processes of this machine: each has an address of loopback in place of a network of
 * its own, and folders in place of volumes.
 */
export class Host {
  readonly #running = new Map<string, ChildProcess>();
  /** The orchestrator is .1 of it, agent-2 is .2. */
  readonly #net: string;

  constructor(
    readonly compose: ComposeFile,
    readonly folder: string,
  ) {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
    writeFileSync(join(bin, 'stageplane'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
    chmodSync(join(bin, 'stageplane'), 0o755);
    for (const volume of [...Object.keys(compose.volumes), 'models']) mkdirSync(join(folder, volume), { mode: 0o700 });
    this.#net = `127.${1 + (process.pid % 250)}.${1 + Math.floor(Math.random() * 250)}`;
  }

  get orchestrator(): string {
    return `${this.#net}.1:7070`;
  }

  /** `docker compose up`: each service once those that it depends on are as it wants them. */
  async up(): Promise<void> {
    for (const name of Object.keys(this.compose.services)) await this.#start(name);
  }

  /** Waits until the health check of a service succeeds; rejects when its process ends before. */
  async healthy(name: string): Promise<void> {
    while ((await this.health(name)) !== 0) {
      const { exitCode, signalCode } = this.#running.get(name)!;
      if (exitCode ?? signalCode) throw new Error(`${name} ended (${exitCode ?? signalCode})`);
    }
  }

  async #start(name: string): Promise<void> {
    if (this.#running.has(name)) return;
    for (const [other, { condition }] of Object.entries(this.#service(name).depends_on ?? {})) {
      await this.#start(other);
      if (condition === 'service_healthy') await this.healthy(other);
      else if ((await this.#completed(other)) !== 0) throw new Error(`${other} failed`);
    }
    const { entrypoint, command } = this.#service(name);
    const image = { entrypoint: JSON.parse(imageSays('ENTRYPOINT')), command: JSON.parse(imageSays('CMD')) };
    // As compose has it: who says an entrypoint drops the command of the image.
    const words = [...(entrypoint ?? image.entrypoint), ...(command ?? (entrypoint ? [] : image.command))];
    this.#running.set(name, this.#spawn(name, words));
  }

  async #completed(name: string): Promise<number | null> {
    const child = this.#running.get(name)!;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
    return child.exitCode;
  }

  /** The exit code of the health check of a service, run where the service runs. */
  async health(name: string): Promise<number> {
    const [, ...words] = this.#service(name).healthcheck?.test ?? [
      'CMD',
      ...JSON.parse(imageSays('HEALTHCHECK').split('CMD ')[1]!),
    ];
    return (await this.exec(name, words)).code;
  }

  /** `docker compose exec`. */
  async exec(name: string, words: readonly string[]): Promise<{ code: number; stdout: string }> {
    const child = this.#spawn(name, words);
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    const [code] = await once(child, 'close');
    return { code, stdout };
  }

  /** `docker compose down`; gives the exit codes. */
  async stop(): Promise<Record<string, number | null>> {
    const codes: Record<string, number | null> = {};
    for (const [name, child] of [...this.#running].reverse()) {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      codes[name] = child.exitCode;
    }
    this.#running.clear();
    return codes;
  }

  #spawn(name: string, words: readonly string[]): ChildProcess {
    const service = this.#service(name);
    // Nobody else has 127.0.0.1 in a container of his own.
    const atHome = { STAGEPLANE_ORCHESTRATOR: 'orchestrator:7070' };
    const said = Object.entries({
      STAGEPLANE_DATA: '/data',
      STAGEPLANE_MODELS: '/models',
      ...atHome,
      ...service.environment,
    });
    const own = Object.fromEntries(said.map(([key, value]) => [key, this.#mapped(name, String(value))]));
    const env = {
      PATH: `${join(this.folder, 'bin')}:${process.env.PATH}`,
      HOME: this.folder,
      XDG_RUNTIME_DIR: this.#runtime(name),
      ...own,
    };
    const [program = '', ...rest] = words.map((word) => this.#mapped(name, word).replaceAll('$$', '$'));
    return spawn(program, rest, { env, stdio: ['ignore', 'pipe', process.env.TEST_LOG ? 'inherit' : 'ignore'] });
  }

  /** Where a name leads, what all addresses are, and where volumes lie. */
  #mapped(name: string, text: string): string {
    const net = this.#net;
    const own = name === 'orchestrator' ? `${net}.1` : `${net}.${name.replace('agent-', '')}`;
    const volumes = (this.#service(name).volumes ?? []).map((volume) =>
      volume.replace(/^\$\{MODELS:-\.\/(\w+)\}/, '$1').split(':'),
    );
    const folders = volumes.map(([source = '', target = '']) => [target, join(this.folder, source)] as const);
    let mapped = text
      .replace(/\borchestrator:(?=\d)/g, `${net}.1:`)
      .replace(/--name orchestrator\b/, `--name ${net}.1`)
      .replace('agent-{node_id}', `${net}.{node_id}`)
      .replace('0.0.0.0', own);
    for (const [target, folder] of folders)
      mapped = mapped.replaceAll(new RegExp(`(?<![\\w/])${target}\\b`, 'g'), folder);
    return mapped;
  }

  #runtime(name: string): string {
    const folder = join(this.folder, 'run', name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  #service(name: string): Service {
    return this.compose.services[name]!;
  }
}
