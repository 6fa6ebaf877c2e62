import type { Readable } from 'node:stream';
import { LogTail } from './log-tail.js';
import type { RotatingFile } from './rotating-file.js';

/** What a worker writes to stderr: the last lines in memory, and from `writeTo` on all of it in a file. */
export class WorkerLog {
  /** Settles when stderr has ended and all of it is written; never rejects. */
  readonly written: Promise<void>;

  readonly #tail = new LogTail();
  #file: RotatingFile | undefined;

  /** @param stderr absent when the process could not be started */
  constructor(
    stderr: Readable | null | undefined,
    private readonly onFileError: (error: unknown) => void,
  ) {
    this.written = this.#pump(stderr);
  }

  /** The last lines, oldest first. */
  get tail(): string[] {
    return this.#tail.lines();
  }

  writeTo(file: RotatingFile): void {
    this.#file = file;
  }

  async close(): Promise<void> {
    await this.#file?.close().catch(() => {});
  }

  async #pump(stderr: Readable | null | undefined): Promise<void> {
    if (!stderr) return;
    try {
      for await (const chunk of stderr as AsyncIterable<Buffer>) {
        this.#tail.push(chunk);
        await this.#file?.append(chunk).catch((error: unknown) => this.#loseFile(error));
      }
    } catch {
      // The pipe was torn down with the process.
    }
  }

  /** A full disk must not stop the stage: its last lines are still in memory. */
  #loseFile(error: unknown): void {
    this.#file = undefined;
    this.onFileError(error);
  }
}
