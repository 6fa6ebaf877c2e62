import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../package-root.js';

/** Milliseconds that a daemon gets to end in good order: a stage's 5 s, a session's and a server's. */
const PATIENCE = 15_000;

/**
 * One of our own daemons as a child process; its log goes to a file. It has a process group of its own: Ctrl-C is the
 * demo's to hear, which then stops its daemons one by one.
 */
export class Daemon {
  private readonly process: ChildProcess;
  private readonly log: WriteStream;
  private readonly exited: Promise<unknown>;
  /** Also when the demo itself cannot go on, for a reader of its output that is gone. */
  private readonly terminate = () => void this.process.kill('SIGTERM');

  constructor(
    readonly name: string,
    args: readonly string[],
    readonly logPath: string,
    environment: NodeJS.ProcessEnv,
  ) {
    this.log = createWriteStream(logPath);
    const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
    this.process = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      env: { ...process.env, ...environment },
    });
    process.once('exit', this.terminate);
    this.process.stderr?.pipe(this.log);
    this.exited = once(this.process, 'exit');
  }

  /** The first line of its answer, as JSON. Rejects when it ends before. */
  async firstAnswer(signal: AbortSignal): Promise<Record<string, string>> {
    const lines = createInterface({ input: this.process.stdout! });
    const [line] = await Promise.race([once(lines, 'line', { signal }), once(lines, 'close', { signal })]);
    if (typeof line === 'string') return JSON.parse(line) as Record<string, string>;
    throw new Error(`the ${this.name} ended before it was ready; its log is ${this.logPath}`);
  }

  /** Asks it to end; gives its exit code, or the signal that ended it. */
  async stop(): Promise<number | string> {
    this.terminate();
    const impatience = setTimeout(() => this.process.kill('SIGKILL'), PATIENCE);
    await this.exited;
    clearTimeout(impatience);
    process.off('exit', this.terminate);
    this.log.end();
    return this.process.exitCode ?? this.process.signalCode ?? 'unknown';
  }
}
