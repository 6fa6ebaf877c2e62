import { quoted } from '../core/quoted.js';
import { GgufError } from './gguf-error.js';
import type { Numbers, NumberType, NumberValue } from './value-type.js';

/** A metadata value. Numbers keep the type of the file: uint64 and int64 are bigint. */
export type MetadataValue =
  | {
      readonly kind: 'number';
      readonly type: NumberType;
      readonly value: NumberValue;
    }
  | { readonly kind: 'string'; readonly value: string }
  /** A string over `limits.ggufKeptStringBytes`; only its length was kept. */
  | { readonly kind: 'long-string'; readonly bytes: number }
  /** `items` is undefined when only the length was kept. */
  | {
      readonly kind: 'numbers';
      readonly type: NumberType;
      readonly length: number;
      readonly items: Numbers | undefined;
    }
  | {
      readonly kind: 'strings';
      readonly length: number;
      readonly items: readonly string[] | undefined;
    };

/** The key-value pairs of one file, with the accessors that a model's facts need. */
export class Metadata {
  constructor(
    /** Path or address of the file, for sentences. */
    readonly file: string,
    readonly entries: ReadonlyMap<string, MetadataValue>,
  ) {}

  /** The string of a key, or undefined when the file has none. */
  text(key: string): string | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    if (value.kind !== 'string') throw this.#bad(key, 'a short string');
    return value.value;
  }

  /** The boolean of a key, or undefined when the file has none. */
  flag(key: string): boolean | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    if (value.kind !== 'number' || value.type !== 'bool') throw this.#bad(key, 'true or false');
    return Boolean(value.value);
  }

  /** A whole number of any integer type within `[minimum, maximum]`, or undefined when the file has none. */
  integer(key: string, minimum: number, maximum: number): number | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    if (value.kind !== 'number') throw this.#bad(key, `a number from ${minimum} to ${maximum}`);
    return this.#inRange(key, value.value, minimum, maximum);
  }

  /** Like `integer`, but absent keys are refused with what they are needed for. */
  requiredInteger(key: string, minimum: number, maximum: number): number {
    const value = this.integer(key, minimum, maximum);
    if (value === undefined) {
      throw new GgufError(
        'missing-key',
        `${this.file} has no ${quoted(key)}, so it is not a language model made of layers: name another file`,
        { key },
      );
    }
    return value;
  }

  /**
   * A number that the file gives once or per layer, as one entry per layer of `layers`, or as one entry when all agree;
   * empty when the file has none. Each is at most `maximum`.
   */
  perLayer(key: string, layers: number, maximum: number = Number.MAX_SAFE_INTEGER): bigint[] {
    const value = this.entries.get(key);
    if (value === undefined) return [];
    if (value.kind === 'number') return [BigInt(this.#inRange(key, value.value, 0, maximum))];
    if (value.kind !== 'numbers' || value.items === undefined || value.length < layers) {
      throw this.#bad(key, `a number, or one for each of ${layers} layers`);
    }
    const items: Iterable<number | bigint> = value.items;
    const each = Array.from(items, (item) => BigInt(this.#inRange(key, item, 0, maximum))).slice(0, layers);
    return each.every((item) => item === each[0]) ? each.slice(0, 1) : each;
  }

  /** Number of elements of an array, or undefined when the key is absent or no array. */
  arrayLength(key: string): number | undefined {
    const value = this.entries.get(key);
    return value?.kind === 'strings' || value?.kind === 'numbers' ? value.length : undefined;
  }

  #inRange(key: string, value: NumberValue, minimum: number, maximum: number): number {
    const number = Number(value);
    if (typeof value === 'boolean' || !Number.isInteger(number) || number < minimum || number > maximum) {
      throw this.#bad(key, `a number from ${minimum} to ${maximum}`, value);
    }
    return number;
  }

  #bad(key: string, expected: string, found?: NumberValue): GgufError {
    const instead = found === undefined ? '' : `, not ${found}`;
    return new GgufError(
      'bad-value',
      `${this.file}: ${quoted(key)} must be ${expected}${instead}: convert the model anew`,
      { key },
    );
  }
}
