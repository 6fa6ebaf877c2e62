import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
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

  /** @param program a module that is run in place of the binary */
  constructor(words: readonly string[], environment: Readonly<Record<string, string>> = {}, program = MAIN) {
    const { PATH = '', HOME = '' } = process.env;
    this.process = spawn(process.execPath, [program, ...words], { env: { PATH, HOME, ...environment } });
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

  /** Resolves when the stream has shown the text, or so many characters; rejects when the process ends without. */
  async shown(stream: 'stdout' | 'stderr', what: string | number): Promise<void> {
    const isShown = () => (typeof what === 'string' ? this[stream].includes(what) : this[stream].length >= what);
    const over = this.ended.then((ended) => {
      if (!isShown()) throw new Error(`ended without "${what}": ${JSON.stringify(ended)}`);
    });
    while (!isShown()) await Promise.race([once(this.process[stream]!, 'data'), over]);
  }

  interrupt(): void {
    this.process.kill('SIGINT');
  }

  /** Writes to its stdin. */
  type(text: string): void {
    this.process.stdin?.write(text);
  }

  /** Ends its stdin. */
  hangUp(): void {
    this.process.stdin?.end();
  }
}

export function stageplane(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Child(words, environment).end();
}

/** What a command gives that could not do it. @param sentence as a whole, or what all of stderr matches */
export function failed(code: number, sentence: string | RegExp) {
  const stderr = typeof sentence === 'string' ? `stageplane: ${sentence}\n` : expect.stringMatching(sentence);
  return { code, stdout: '', stderr };
}
