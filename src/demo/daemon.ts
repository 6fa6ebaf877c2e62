import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../grpc/package-root.js';

/** One of our own daemons as a child process; its log goes to a file. */
export class Daemon {
  private readonly process: ChildProcess;
  private readonly log: WriteStream;
  private readonly exited: Promise<unknown>;

  constructor(
    readonly name: string,
    args: readonly string[],
    readonly logPath: string,
  ) {
    this.log = createWriteStream(logPath);
    const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
    this.process = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process.stderr?.pipe(this.log);
    this.exited = once(this.process, 'exit');
  }

  /** The first line of its answer, as JSON. Rejects when it ends before. */
  async firstAnswer(): Promise<Record<string, string>> {
    const lines = createInterface({ input: this.process.stdout! });
    const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
    if (typeof line === 'string') return JSON.parse(line) as Record<string, string>;
    throw new Error(`the ${this.name} ended before it was ready; its log is ${this.logPath}`);
  }

  /** Asks it to end; gives its exit code, or the signal that ended it. */
  async stop(): Promise<number | string> {
    this.process.kill('SIGTERM');
    await this.exited;
    this.log.end();
    return this.process.exitCode ?? this.process.signalCode ?? 'unknown';
  }
}
