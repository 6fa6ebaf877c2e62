import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';

const NEWLINE = 0x0a;

/** The last lines of a byte stream, each cut to `limits.logLineBytes`; of a longer line the beginning is kept (I16). */
export class LogTail {
  #lines: string[] = [];
  #open: Buffer[] = [];
  #openBytes = 0;

  constructor(private readonly keep: number = limits.logTailLines) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#extend(chunk.subarray(start, end));
      this.#close();
      start = end + 1;
    }
    this.#extend(chunk.subarray(start));
  }

  /** Oldest first, the line that is still being written included. */
  lines(): string[] {
    const open = this.#openBytes > 0 ? [this.#text()] : [];
    return [...this.#lines, ...open].slice(-this.keep);
  }

  #extend(part: Buffer): void {
    const room = limits.logLineBytes - this.#openBytes;
    if (room <= 0 || part.length === 0) return;
    // A copy: a view would keep the whole chunk in memory.
    const kept = Buffer.from(part.subarray(0, room));
    this.#open.push(kept);
    this.#openBytes += kept.length;
  }

  #close(): void {
    if (this.#openBytes > 0) this.#lines.push(this.#text());
    if (this.#lines.length > this.keep) this.#lines.shift();
    this.#open = [];
    this.#openBytes = 0;
  }

  #text(): string {
    // A cut inside a character leaves a replacement character behind, which can be longer than what it replaces.
    return clipText(Buffer.concat(this.#open).toString('utf8').trimEnd(), limits.logLineBytes);
  }
}
