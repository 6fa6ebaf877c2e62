import { limits } from '../core/limits.js';
import type { Line } from '../worker/line-splitter.js';

const NEWLINE = 0x0a;

/** Cuts a byte stream into lines of `limits.tokenEndpointLineBytes` at most, and holds one of them (I16). */
export class LineReader {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** The lines that `chunk` completes; blank ones are left out. A line too long is told of where it ends. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      const line = this.#finish();
      if (line.kind === 'too-long' || line.text !== '') lines.push(line);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes <= limits.tokenEndpointLineBytes) this.#parts.push(part);
    else this.#parts = [];
  }

  #finish(): Line {
    const isTooLong = this.#bytes > limits.tokenEndpointLineBytes;
    const text = Buffer.concat(this.#parts).toString('utf8').trim();
    this.#parts = [];
    this.#bytes = 0;
    return isTooLong ? { kind: 'too-long' } : { kind: 'line', text };
  }
}
