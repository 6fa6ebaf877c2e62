import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../package-root.js';
import { ENDS_WITH_STDIN } from '../process/ends-with-stdin.js';

/** Milliseconds that a daemon gets to end in good order: a stage's 5 s, a session's and a server's. */
const PATIENCE = 15_000;

/**
 * One of our own daemons as a child process; its log goes to a file. It has a process group of its own: Ctrl-C is for who
 * started it to hear, which then stops its daemons one by one. It ends with them, also by kill -9, for they hold its stdin.
 */
export class Daemon {
  private readonly process: ChildProcess;
  private readonly log: WriteStream;
  private readonly exited: Promise<unknown>;
  private complaint: string | undefined;
  private isAsked = false;
  /** Also when whoever started it cannot go on, for a reader of the output that is gone. */
  private readonly terminate = () => void this.process.kill('SIGTERM');

  /** @param args with `--json`, by which it says in a sentence why it cannot start */
  constructor(
    readonly name: string,
    args: readonly string[],
    readonly logPath: string,
    environment: NodeJS.ProcessEnv = {},
  ) {
    this.log = createWriteStream(logPath);
    const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
    this.process = spawn(process.execPath, [program, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      env: { ...process.env, ...environment, [ENDS_WITH_STDIN]: '1' },
    });
    process.once('exit', this.terminate);
    this.process.stderr?.pipe(this.log);
    createInterface({ input: this.process.stderr! }).on('line', (line) => {
      this.complaint = complaintOf(line) ?? this.complaint;
    });
    this.exited = once(this.process, 'exit');
  }

  /** The first line of its answer, as JSON. Rejects when it ends before. */
  async firstAnswer(signal: AbortSignal): Promise<Record<string, string>> {
    const lines = createInterface({ input: this.process.stdout! });
    const [line] = await Promise.race([once(lines, 'line', { signal }), once(lines, 'close', { signal })]);
    if (typeof line === 'string') return JSON.parse(line) as Record<string, string>;
    throw this.ending('ended before it was ready');
  }

  /** Rejects with a sentence when it ends although nobody has asked it to. */
  async lost(): Promise<never> {
    await this.exited;
    if (this.isAsked) return new Promise(() => {});
    throw this.ending('ended by itself');
  }

  /** Asks it to end; gives its exit code, or the signal that ended it. */
  async stop(): Promise<number | string> {
    this.isAsked = true;
    this.terminate();
    const impatience = setTimeout(() => this.kill(), PATIENCE);
    await this.exited;
    clearTimeout(impatience);
    process.off('exit', this.terminate);
    this.log.end();
    return this.process.exitCode ?? this.process.signalCode ?? 'unknown';
  }

  kill(): void {
    this.process.kill('SIGKILL');
  }

  private ending(how: string): Error {
    const why = this.complaint === undefined ? '' : `: ${this.complaint}`;
    return new Error(`the ${this.name} ${how}${why}; its log is ${this.logPath}`);
  }
}

/** Failures have a reason; lines of the log have none. */
function complaintOf(line: string): string | undefined {
  try {
    const { code, reason, message } = JSON.parse(line);
    return typeof reason === 'string' && code !== 'OK' ? String(message) : undefined;
  } catch {
    return undefined;
  }
}
