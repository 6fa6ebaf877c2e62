/** Builds the bytes of a header field by field, right or wrong. Lengths are 64 bits wide, as in version 3. */
export class RawBytes {
  #parts: Uint8Array[] = [];

  bytes(...values: number[]): this {
    this.#parts.push(Uint8Array.from(values));
    return this;
  }

  text(value: string): this {
    this.#parts.push(Buffer.from(value));
    return this;
  }

  u32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.#parts.push(bytes);
    return this;
  }

  u64(value: number | bigint): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    this.#parts.push(bytes);
    return this;
  }

  string(value: string): this {
    return this.u64(Buffer.byteLength(value)).text(value);
  }

  zeros(count: number): this {
    this.#parts.push(new Uint8Array(count));
    return this;
  }

  build(): Uint8Array {
    return Buffer.concat(this.#parts);
  }
}

/** The start of a version 3 header. */
export function rawHeader(tensors: number | bigint, keys: number | bigint): RawBytes {
  return new RawBytes().text('GGUF').u32(3).u64(tensors).u64(keys);
}
