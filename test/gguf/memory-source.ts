import type { ByteSource } from '../../src/gguf/byte-source.js';

/** A source in memory that counts what is asked of it and allows nothing outside itself. */
export class MemorySource implements ByteSource {
  readonly size: number;
  largestRead = 0;
  totalRead = 0;
  closed = 0;

  constructor(
    readonly bytes: Uint8Array,
    readonly name = 'memory.gguf',
    /** Bytes that the source claims to have; those after `bytes` cannot be read. */
    size = bytes.length,
  ) {
    this.size = size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (offset < 0 || length < 0 || offset + length > this.bytes.length) {
      throw new RangeError(`read of ${length} bytes at ${offset} in ${this.bytes.length}`);
    }
    this.largestRead = Math.max(this.largestRead, length);
    this.totalRead += length;
    return this.bytes.slice(offset, offset + length);
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}
