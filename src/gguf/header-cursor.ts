import { limits } from '../core/limits.js';
import { quoted } from '../core/quoted.js';
import type { ByteSource } from './byte-source.js';
import { GgufError, type GgufErrorSubject } from './gguf-error.js';
import { type NumberType, type NumberValue, numberTypes } from './value-type.js';

/** What is being read, for the sentence of an error. */
export interface Place extends GgufErrorSubject {
  readonly what: string;
}

/** Bytes of the first read; later ones double up to the second bound. Headers are some KB to some MB. */
const FIRST_READ_BYTES = 64 * 1024;
const LARGEST_READ_BYTES = 1024 * 1024;

/**
 * Reads a header from front to back through a window on the source. Each length is compared with the bytes that remain
 * before anything is allocated for it, so a small file never costs more than itself (I16).
 */
export class HeaderCursor {
  /** The reader sets this as it goes. */
  place: Place = { what: 'its first bytes' };
  /** Bytes of a count or length: 4 in version 1, 8 since. */
  lengthBytes: 4 | 8 = 8;

  #window: Uint8Array = new Uint8Array(0);
  #view = new DataView(this.#window.buffer);
  /** Offset in the source of the window's first byte, and the position in the window. */
  #start = 0;
  #at = 0;
  #nextRead = FIRST_READ_BYTES;

  /** `onConsumed` is given every byte that the cursor passed, in order, each once: the digest's food. */
  constructor(
    readonly source: ByteSource,
    readonly onConsumed: (bytes: Uint8Array) => void = () => {},
  ) {}

  /** Offset in the source of the next byte. */
  get offset(): number {
    return this.#start + this.#at;
  }

  /** Bytes of the source that are still to come. */
  get remaining(): number {
    return this.source.size - this.offset;
  }

  /** Passes the last bytes of the window on to `onConsumed`. Call once, after the last read. */
  finish(): void {
    this.#releaseConsumed();
  }

  /** The next bytes without passing them; fewer than `length` at the end of the source. */
  async peek(length: number): Promise<Uint8Array> {
    const wanted = Math.min(length, this.remaining);
    await this.#need(wanted);
    return this.#window.subarray(this.#at, this.#at + wanted);
  }

  /** The next `length` bytes: a view that is valid until the next read. */
  async bytes(length: number): Promise<Uint8Array> {
    await this.#need(length);
    this.#at += length;
    return this.#window.subarray(this.#at - length, this.#at);
  }

  async number(type: NumberType): Promise<NumberValue> {
    const { bytes, get } = numberTypes[type];
    await this.#need(bytes);
    this.#at += bytes;
    return get(this.#view, this.#at - bytes);
  }

  async uint32(): Promise<number> {
    return Number(await this.number('uint32'));
  }

  /** An unsigned 64-bit number. Exact up to 2^53; larger ones come back rounded, to be refused by the caller's bound. */
  async uint64(): Promise<number> {
    await this.#need(8);
    this.#at += 8;
    return this.#uint64At(this.#at - 8);
  }

  /** A count, length or extent: 32 bits wide in version 1, 64 since. */
  async length(): Promise<number> {
    return this.lengthBytes === 4 ? this.uint32() : this.uint64();
  }

  /** The bytes of a string; a view that is valid until the next read. Refuses one over `maximum` bytes. */
  async string(maximum: number, what: string): Promise<Uint8Array> {
    const length = await this.length();
    this.#refuseBeyondEnd(length);
    if (length > maximum) throw this.error('too-large', `has ${what} of ${length} bytes, over ${maximum}`);
    return this.bytes(length);
  }

  /** Passes `length` bytes, a window at a time. */
  async skip(length: number): Promise<void> {
    this.#refuseBeyondEnd(length);
    for (let left = length; left > 0; ) {
      if (this.#at === this.#window.length) await this.#need(1);
      const step = Math.min(left, this.#window.length - this.#at);
      this.#at += step;
      left -= step;
    }
  }

  /** Passes `count` strings, waiting only where the window ends: vocabularies have hundreds of thousands. */
  async skipStrings(count: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      const length = this.#wholeString();
      if (length === undefined) await this.skip(await this.length());
      else this.#at += this.lengthBytes + length;
    }
  }

  /** Reads `count` strings, likewise; `visit` gets views that are valid until it returns. */
  async strings(count: number, visit: (bytes: Uint8Array) => void): Promise<void> {
    for (let left = count; left > 0; left--) {
      const length = this.#wholeString();
      if (length === undefined) visit(await this.bytes(await this.length()));
      else {
        this.#at += this.lengthBytes + length;
        visit(this.#window.subarray(this.#at - length, this.#at));
      }
    }
  }

  /** An error about the current place: "<file> <sentence>, in <what>". */
  error(kind: GgufError['kind'], sentence: string): GgufError {
    return new GgufError(kind, `${this.source.name} ${sentence}, in ${this.#placeText()}`, this.place);
  }

  /** The length of the next string when it lies in the window with all its bytes. */
  #wholeString(): number | undefined {
    const start = this.#at + this.lengthBytes;
    if (start > this.#window.length) return undefined;
    const length = this.lengthBytes === 4 ? this.#view.getUint32(this.#at, true) : this.#uint64At(this.#at);
    return start + length <= this.#window.length ? length : undefined;
  }

  #uint64At(offset: number): number {
    return this.#view.getUint32(offset + 4, true) * 2 ** 32 + this.#view.getUint32(offset, true);
  }

  async #need(length: number): Promise<void> {
    const buffered = this.#window.length - this.#at;
    if (length <= buffered) return;
    this.#refuseBeyondEnd(length);
    this.#releaseConsumed();
    const rest = this.#window;
    const readFrom = this.#start + rest.length;
    const wanted = Math.min(Math.max(length - buffered, this.#nextRead), this.source.size - readFrom);
    const fresh = await this.source.read(readFrom, wanted);
    this.#setWindow(rest.length === 0 ? fresh : Buffer.concat([rest, fresh]));
    this.#nextRead = Math.min(this.#nextRead * 2, LARGEST_READ_BYTES);
  }

  #releaseConsumed(): void {
    if (this.#at > 0) this.onConsumed(this.#window.subarray(0, this.#at));
    this.#start += this.#at;
    this.#setWindow(this.#window.subarray(this.#at));
    this.#at = 0;
  }

  #setWindow(bytes: Uint8Array): void {
    this.#window = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #refuseBeyondEnd(length: number): void {
    if (length > this.remaining) {
      throw this.error(
        'truncated',
        `ends after ${this.source.size} bytes, but at ${this.offset} it needs ${length} more: download it again`,
      );
    }
    if (this.offset + length > limits.ggufHeaderBytes) {
      throw this.error('too-large', `has a header of over ${limits.ggufHeaderBytes} bytes`);
    }
  }

  #placeText(): string {
    const subject = this.place.key ?? this.place.tensor;
    return subject === undefined ? this.place.what : `${this.place.what} ${quoted(subject)}`;
  }
}
