import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { FailPointName } from '../../src/orchestrator/fail-point.js';

const program = join(import.meta.dirname, 'daemon.mjs');

/** One `daemon.mjs`: loaded at once, started when it is told to, so that a successor can be loaded ahead of need. */
export class DaemonProcess {
  /** Resolves with the signal or code when it is gone. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private readonly lines: Interface;

  constructor() {
    this.child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child.stdin!.on('error', () => {});
    this.lines = createInterface({ input: this.child.stdout! });
    this.ended = once(this.child, 'exit').then(([code, signal]) => String(signal ?? code));
  }

  /** Gives its address; undefined when it ended on the way. */
  async start(dataFolder: string, listen: string): Promise<string | undefined> {
    return (await this.ask({ start: { dataFolder, listen } }))?.address;
  }

  async arm(name: FailPointName, passage: number): Promise<void> {
    await this.ask({ arm: { name, passage } });
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private async ask(line: unknown): Promise<{ address?: string } | undefined> {
    const answer = once(this.lines, 'line').then(([text]) => JSON.parse(text));
    this.child.stdin!.write(`${JSON.stringify(line)}\n`);
    return Promise.race([answer, this.ended.then(() => undefined)]);
  }
}
