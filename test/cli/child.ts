import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

const MAIN = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real binary, as `npm run build` made it, in an environment without settings of its own. */
export class Child {
  stdout = '';
  stderr = '';
  readonly process: ChildProcess;
  private readonly ended: Promise<Ended>;

  constructor(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const { PATH = '', HOME = '' } = process.env;
    this.process = spawn(process.execPath, [MAIN, ...words], { env: { PATH, HOME, ...environment } });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = once(this.process, 'close').then(([code]) => ({ code, stdout: this.stdout, stderr: this.stderr }));
  }

  end(): Promise<Ended> {
    return this.ended;
  }

  /** Resolves when the stream has shown the text; rejects when the process ends without it. */
  async shown(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    const over = this.ended.then((ended) => {
      if (!ended[stream].includes(text)) throw new Error(`ended without "${text}": ${JSON.stringify(ended)}`);
    });
    while (!this[stream].includes(text)) {
      await Promise.race([once(this.process[stream]!, 'data'), over]);
    }
  }

  interrupt(): void {
    this.process.kill('SIGINT');
  }
}

export function stageplane(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Child(words, environment).end();
}
