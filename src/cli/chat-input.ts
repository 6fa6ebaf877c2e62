import { createInterface, type Interface } from 'node:readline';

/** The person's side of a chat: one line after another, from a terminal or a file. */
export class ChatInput {
  readonly #lines: Interface;
  readonly #waiting: string[] = [];
  #next: ((line: string | undefined) => void) | undefined;
  #isOver = false;
  #answer: AbortController | undefined;

  constructor() {
    const { stdin, stderr } = process;
    this.#lines = createInterface({
      input: stdin,
      output: stderr,
      terminal: stdin.isTTY === true && stderr.isTTY === true,
    });
    this.#lines.setPrompt('> ');
    this.#lines.on('line', (line) => this.#take(line));
    this.#lines.on('close', () => this.#end());
    // A terminal in raw mode sends Ctrl-C as a key; everywhere else it is a signal.
    this.#lines.on('SIGINT', this.#interrupt);
    process.on('SIGINT', this.#interrupt);
  }

  /** The next line; undefined at the end, which is Ctrl-D, or Ctrl-C while nothing is answered. */
  next(): Promise<string | undefined> {
    this.#answer = undefined;
    const line = this.#waiting.shift();
    if (line !== undefined || this.#isOver) return Promise.resolve(line);
    if (process.stdin.isTTY) this.#lines.prompt();
    return new Promise((resolve) => {
      this.#next = resolve;
    });
  }

  /** Aborted by Ctrl-C, until `next` is called. */
  interrupted(): AbortSignal {
    this.#answer = new AbortController();
    return this.#answer.signal;
  }

  close(): void {
    process.off('SIGINT', this.#interrupt);
    this.#lines.close();
  }

  readonly #interrupt = () => {
    if (this.#answer) this.#answer.abort();
    else this.#lines.close();
  };

  #take(line: string): void {
    const next = this.#next;
    this.#next = undefined;
    if (next) next(line);
    else this.#waiting.push(line);
  }

  #end(): void {
    this.#isOver = true;
    this.#next?.(undefined);
    this.#next = undefined;
  }
}
