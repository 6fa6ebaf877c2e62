/** A piece of a header, by its place in the file. */
export interface Piece {
  readonly kind: 'count' | 'length' | 'type' | 'extent' | 'offset' | 'number' | 'text' | 'pair' | 'row';
  readonly at: number;
  readonly bytes: number;
}

const NUMBER_BYTES: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const STRING = 8;
const ARRAY = 9;
const MOST_PIECES = 2000;

/** What a header is made of, as far as it makes sense: a mutation aims at the pieces. Never throws. */
export function ggufLayout(file: Buffer): Piece[] {
  const walk = new Walk(file);
  try {
    walk.header();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return walk.pieces;
}

class Walk {
  readonly pieces: Piece[] = [];
  #at = 4;
  readonly #lengthBytes: 4 | 8;

  constructor(private readonly file: Buffer) {
    this.#lengthBytes = file.length >= 8 && file.readUInt32LE(4) === 1 ? 4 : 8;
  }

  header(): void {
    this.#number('type', 4);
    const rows = this.#number('count', this.#lengthBytes);
    const pairs = this.#number('count', this.#lengthBytes);
    for (let index = 0; index < pairs; index++) this.#whole('pair', () => this.#pair());
    for (let index = 0; index < rows; index++) this.#whole('row', () => this.#row());
  }

  #pair(): void {
    this.#string();
    this.#value(this.#number('type', 4));
  }

  #row(): void {
    this.#string();
    const dims = this.#number('count', 4);
    for (let dim = 0; dim < dims; dim++) this.#number('extent', this.#lengthBytes);
    this.#number('type', 4);
    this.#number('offset', 8);
  }

  #value(type: number): void {
    if (type === STRING) this.#string();
    else if (type === ARRAY) {
      const elements = this.#number('type', 4);
      const length = this.#number('length', this.#lengthBytes);
      for (let index = 0; index < length; index++) this.#value(elements);
    } else this.#number('number', NUMBER_BYTES[type] ?? this.#lost());
  }

  #string(): void {
    const length = this.#number('length', this.#lengthBytes);
    this.#note('text', this.#at, length);
    this.#at += length;
  }

  #number(kind: Piece['kind'], bytes: number): number {
    this.#note(kind, this.#at, bytes);
    this.#at += bytes;
    if (bytes < 8) return this.file.readUIntLE(this.#at - bytes, bytes);
    return Number(this.file.readBigUInt64LE(this.#at - bytes));
  }

  #whole(kind: Piece['kind'], read: () => void): void {
    const start = this.#at;
    read();
    this.#note(kind, start, this.#at - start);
  }

  #note(kind: Piece['kind'], at: number, bytes: number): void {
    if (at + bytes > this.file.length || this.pieces.length === MOST_PIECES) this.#lost();
    this.pieces.push({ kind, at, bytes });
  }

  #lost(): never {
    throw new RangeError('no header from here on');
  }
}
