import type { ComposeFile } from '../deploy/compose-file.js';
import type { Answer, Engine } from './engine.js';
import { runArguments, type Surroundings } from './run-arguments.js';

/** The services of a compose file as containers, on a network and with volumes of their own: `docker compose`, without that program. */
export class Project {
  readonly #started: string[] = [];

  constructor(
    readonly engine: Engine,
    readonly compose: ComposeFile,
    readonly surroundings: Surroundings,
  ) {}

  /** `up`: each service once those that it depends on are as it wants them. */
  async up(): Promise<void> {
    await this.engine.run('network', 'create', ...this.#label, this.surroundings.project);
    for (const name of Object.keys(this.compose.volumes))
      await this.engine.run('volume', 'create', ...this.#label, `${this.surroundings.project}-${name}`);
    for (const name of Object.keys(this.compose.services)) await this.#start(name);
  }

  /** Waits until the engine has found a service healthy; rejects when it finds the contrary, or the service has ended. */
  async healthy(name: string): Promise<void> {
    for (;;) {
      const said = await this.inspect(name, '{{.State.Status}} {{.State.Health.Status}}');
      if (said === 'running healthy') return;
      if (said !== 'running starting') throw new Error(`${name} is ${said}: ${await this.logs(name)}`);
    }
  }

  exec(name: string, ...words: readonly string[]): Promise<Answer> {
    return this.engine.attempt('exec', this.#container(name), ...words);
  }

  inspect(name: string, format: string): Promise<string> {
    return this.engine.run('inspect', '--format', format, this.#container(name));
  }

  async logs(name: string): Promise<string> {
    const { stdout, stderr } = await this.engine.attempt('logs', '--tail', '20', this.#container(name));
    return stdout + stderr;
  }

  /** Of the processes in a container, the command lines. */
  async processes(name: string): Promise<readonly string[]> {
    const [, ...lines] = (await this.engine.run('top', this.#container(name), '-o', 'pid,args')).split('\n');
    return lines.map((line) => line.trim().replace(/^\d+\s+/, ''));
  }

  /** `stop`, last started first; gives the exit codes. A service that does not end within its grace period is killed: 137. */
  async stop(): Promise<Record<string, number>> {
    const codes: Record<string, number> = {};
    for (const name of this.#started.toReversed()) {
      await this.engine.run('stop', this.#container(name));
      codes[name] = Number(await this.inspect(name, '{{.State.ExitCode}}'));
    }
    return codes;
  }

  /** `start` of what has been stopped. */
  async start(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.engine.run('start', this.#container(name));
  }

  /** `down --volumes`. Gives what is left all the same. */
  async down(): Promise<readonly string[]> {
    const { project } = this.surroundings;
    const containers = this.#started.map((name) => this.#container(name));
    if (containers.length > 0) await this.engine.attempt('rm', '--force', '--volumes', ...containers);
    const volumes = Object.keys(this.compose.volumes).map((name) => `${project}-${name}`);
    await this.engine.attempt('volume', 'rm', ...volumes);
    await this.engine.attempt('network', 'rm', project);
    const left = [
      ['ps', '--all'],
      ['volume', 'ls'],
      ['network', 'ls'],
    ].map((words) => this.engine.run(...words, '--quiet', '--filter', `label=${project}`));
    return (await Promise.all(left)).filter((text) => text !== '');
  }

  async #start(name: string): Promise<void> {
    if (this.#started.includes(name)) return;
    const service = this.compose.services[name]!;
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      await this.#start(other);
      if (condition === 'service_healthy') await this.healthy(other);
      else await this.#completed(other);
    }
    this.#started.push(name);
    await this.engine.run('run', '--detach', ...this.#label, ...runArguments(name, service, this.surroundings));
  }

  async #completed(name: string): Promise<void> {
    const code = await this.engine.run('wait', this.#container(name));
    if (code !== '0') throw new Error(`${name} failed (${code}): ${await this.logs(name)}`);
  }

  get #label(): string[] {
    return ['--label', this.surroundings.project];
  }

  #container(name: string): string {
    return `${this.surroundings.project}-${name}`;
  }
}
