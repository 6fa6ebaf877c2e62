import { type ExecFileException, execFile } from 'node:child_process';

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Docker, by its command line. */
export class Engine {
  /** @param host address of the daemon; default: the one that `docker` finds itself */
  constructor(readonly host?: string) {}

  /** What it prints, without the last line's end; rejects with what it complains of. */
  async run(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(...words);
    if (code !== 0)
      throw new Error(`docker ${words.join(' ')} (${code}): ${stdout.slice(-2000)}${stderr.slice(-4000)}`);
    return stdout.trimEnd();
  }

  attempt(...words: readonly string[]): Promise<Answer> {
    const env = this.host === undefined ? process.env : { ...process.env, DOCKER_HOST: this.host };
    return new Promise((resolve) =>
      execFile('docker', words, { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
        resolve({ code: exitCode(error), stdout, stderr }),
      ),
    );
  }
}

/** 127 when there is no such program, as a shell says it. */
function exitCode(error: ExecFileException | null): number {
  if (!error) return 0;
  return typeof error.code === 'number' ? error.code : 127;
}
