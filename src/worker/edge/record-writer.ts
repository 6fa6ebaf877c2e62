import type { Socket } from 'node:net';
import { limits } from '../../core/limits.js';
import { encodeHeader, HEADER_BYTES, type ObjectRecord, recordBytes, writeHeader } from './object-record.js';

/** Writes the records of one connection, in order, each with one system call. */
export class RecordWriter {
  /** Holds the record that is being written: one block goes out in half the time that two gathered ones take. */
  #block: Uint8Array | undefined;
  #view!: DataView;
  #inUse = false;

  constructor(readonly socket: Socket) {}

  /** `written` follows when the kernel has all of it, or never will. The payload is untouched until then. */
  write(record: ObjectRecord, written: () => void): void {
    if (this.#inUse || recordBytes(record) > limits.joinedRecordBytes) this.#gather(record, written);
    else this.#join(record, written);
  }

  #join(record: ObjectRecord, written: () => void): void {
    const block = this.#block ?? this.#makeBlock();
    writeHeader(this.#view, record);
    block.set(record.payload, HEADER_BYTES);
    this.#inUse = true;
    this.socket.write(block.subarray(0, recordBytes(record)), () => {
      this.#inUse = false;
      written();
    });
  }

  #gather(record: ObjectRecord, written: () => void): void {
    this.socket.cork();
    this.socket.write(encodeHeader(record));
    this.socket.write(record.payload, written);
    this.socket.uncork();
  }

  #makeBlock(): Uint8Array {
    this.#block = new Uint8Array(limits.joinedRecordBytes);
    this.#view = new DataView(this.#block.buffer);
    return this.#block;
  }
}
