/** A seeded generator. The same seed gives the same numbers on every machine; nothing in a simulation draws elsewhere. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(private readonly seed: string) {
    [this.#a, this.#b, this.#c] = [hash(`${seed}/a`), hash(`${seed}/b`), hash(`${seed}/c`)];
    for (let round = 0; round < 12; round++) this.#word();
  }

  /** Of somebody who draws on their own: dropping one action of a run leaves what others draw as it was. */
  fork(name: string): Random {
    return new Random(`${this.seed}/${name}`);
  }

  /** In [0, 1). */
  next(): number {
    return this.#word() / 2 ** 32;
  }

  /** A whole number between both, each included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Mostly near `least`: what takes long is rare. */
  skewed(least: number, most: number): number {
    return least + (most - least) * this.next() ** 3;
  }

  /** sfc32 */
  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }
}

/** FNV-1a with a finish, enough to tell seeds apart. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}
