import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const PATIENCE_MILLIS = 25_000;

/** A program on a terminal of its own, as `script` of util-linux makes one. */
export class PseudoTerminal {
  /** Everything that was written to it. */
  written = '';
  private readonly process: ChildProcess;
  private readonly ended: Promise<number | null>;
  private device = '';

  private constructor(command: string, { columns, rows }: Size, environment: Readonly<Record<string, string>>) {
    const prepared = `tty; stty cols ${columns} rows ${rows}; ${command}; echo "[exit $?]"`;
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, TERM: 'xterm-256color', ...environment };
    this.process = spawn('script', ['-qfc', prepared, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.written += text;
    });
    this.ended = once(this.process, 'close').then(([code]) => code);
  }

  static async open(command: string, size: Size, environment: Readonly<Record<string, string>> = {}) {
    const terminal = new PseudoTerminal(command, size, environment);
    onTestFinished(() => void terminal.process.kill('SIGKILL'));
    await terminal.shows(/\/dev\/\S+/);
    terminal.device = /\/dev\/\S+/.exec(terminal.written)?.[0] ?? '';
    return terminal;
  }

  /** Where the next look at `shows` begins. */
  get mark(): number {
    return this.written.length;
  }

  /** Resolves when something like this was written after the mark. */
  async shows(what: RegExp, after = 0): Promise<void> {
    const patience = AbortSignal.timeout(PATIENCE_MILLIS);
    while (!what.test(this.written.slice(after))) {
      const over = this.ended.then(() => 'ended');
      const next = once(this.process.stdout!, 'data', { signal: patience }).then(
        () => 'more',
        () => 'nothing more came',
      );
      const why = await Promise.race([next, over]);
      if (why !== 'more' && !what.test(this.written.slice(after))) {
        throw new Error(`${why}, without ${what}: ${JSON.stringify(this.written.slice(-3000))}`);
      }
    }
  }

  type(keys: string): void {
    this.process.stdin?.write(keys);
  }

  resize({ columns, rows }: Size): void {
    execFileSync('stty', ['-F', this.device, 'cols', String(columns), 'rows', String(rows)]);
  }

  /** Of the terminal itself, such as `icanon echo`. */
  settings(): string {
    return execFileSync('stty', ['-F', this.device, '-a'], { encoding: 'utf8' });
  }

  /** Process ids of Node on this terminal. */
  processes(): number[] {
    const lines = execFileSync('ps', ['-t', this.device.replace('/dev/', ''), '-o', 'pid=,args='], {
      encoding: 'utf8',
    });
    return lines
      .split('\n')
      .filter((line) => line.trim().split(/\s+/)[1] === process.execPath)
      .map((line) => Number.parseInt(line, 10));
  }

  end(): Promise<number | null> {
    return this.ended;
  }
}

interface Size {
  readonly columns: number;
  readonly rows: number;
}
