import type { Readable } from 'node:stream';
import { LogTail } from './log-tail.js';
import type { RotatingFile } from './rotating-file.js';

/** What a worker writes to stderr: the last lines in memory, and from `writeTo` on all of it in a file. */
export class WorkerLog {
  /** Settles when stderr has ended and all of it is written; never rejects. */
  readonly written: Promise<void>;

  readonly #tail = new LogTail();
  #file: RotatingFile | undefined;
  #notes: Promise<void>;

  /** @param stderr absent when the process could not be started */
  constructor(
    stderr: Readable | null | undefined,
    private readonly onFileError: (error: unknown) => void,
  ) {
    this.written = this.#pump(stderr);
    this.#notes = this.written;
  }

  /** The last lines, oldest first. */
  get tail(): string[] {
    return this.#tail.lines();
  }

  writeTo(file: RotatingFile): void {
    this.#file = file;
  }

  /** A line of the agent's own, after all that the worker has written; before `close`. */
  note(line: string): void {
    this.#notes = this.#notes.then(() => this.#take(Buffer.from(`${line}\n`)));
  }

  async close(): Promise<void> {
    await this.#notes;
    await this.#file?.close().catch(() => {});
  }

  async #pump(stderr: Readable | null | undefined): Promise<void> {
    if (!stderr) return;
    try {
      for await (const chunk of stderr as AsyncIterable<Buffer>) await this.#take(chunk);
    } catch {
      // The pipe was torn down with the process.
    }
  }

  async #take(chunk: Buffer): Promise<void> {
    this.#tail.push(chunk);
    await this.#file?.append(chunk).catch((error: unknown) => this.#loseFile(error));
  }

  /** A full disk must not stop the stage: its last lines are still in memory. */
  #loseFile(error: unknown): void {
    this.#file = undefined;
    this.onFileError(error);
  }
}
