import { limits } from '../core/limits.js';

export type Line =
  | { readonly kind: 'line'; readonly text: string }
  /** Over the splitter's bound; its bytes were dropped. */
  | { readonly kind: 'too-long' };

const NEWLINE = 0x0a;

/** Cuts a byte stream into lines and holds at most one of them (I16). Blank lines are left out. */
export class LineSplitter {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #dropping = false;

  constructor(private readonly maxBytes: number = limits.workerLineBytes) {}

  /** The lines that `chunk` completes. A line that is too long is told of at once, and once. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end), lines);
      this.#finish(lines);
      start = end + 1;
    }
    this.#append(chunk.subarray(start), lines);
    return lines;
  }

  #append(part: Uint8Array, lines: Line[]): void {
    if (this.#dropping || part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes <= this.maxBytes) {
      this.#parts.push(part);
      return;
    }
    lines.push({ kind: 'too-long' });
    this.#parts = [];
    this.#dropping = true;
  }

  #finish(lines: Line[]): void {
    const text = Buffer.concat(this.#parts).toString('utf8').trim();
    if (text !== '') lines.push({ kind: 'line', text });
    this.#parts = [];
    this.#bytes = 0;
    this.#dropping = false;
  }
}
