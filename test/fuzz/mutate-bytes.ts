import type { Random } from '../sim/random.js';

/** What a hostile writer would put in place of a number. */
export const hostileNumbers: readonly bigint[] = [
  ...[0n, 1n, 2n, 3n, 5n, 7n, 8n, 9n, 12n, 13n, 31n, 33n, 64n, 255n, 256n, 4096n, 65_535n, 65_536n, 65_537n],
  ...[31n, 32n, 53n, 63n, 64n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]),
];

/** `length` bytes from `at` become `bytes`. */
export function splice(input: Uint8Array, at: number, length: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, at), bytes, input.subarray(at + length)]);
}

/** Writes a number of 1, 2, 4 or 8 bytes, little endian, as far as there is room. */
export function putNumber(input: Buffer, at: number, bytes: number, value: bigint): void {
  let left = BigInt.asUintN(64, value);
  for (let index = at; index < Math.min(at + bytes, input.length); index++) {
    input[index] = Number(left & 255n);
    left >>= 8n;
  }
}

/** One change that knows nothing of what the bytes mean. */
export function mutateBytes(input: Buffer, random: Random): Buffer {
  const at = random.int(0, Math.max(0, input.length - 1));
  const some = Buffer.from(Array.from({ length: random.int(1, 8) }, () => random.int(0, 255)));
  switch (random.int(0, 6)) {
    case 0:
      return input.subarray(0, at);
    case 1:
      return splice(input, at, 0, some);
    case 2:
      return splice(input, at, random.int(1, 16), new Uint8Array());
    case 3:
      return splice(input, at, 0, input.subarray(at, at + random.int(1, 200)));
    case 4:
      putNumber(input, at, random.pick([1, 2, 4, 8]), random.pick(hostileNumbers));
      return input;
    case 5:
      input[at] = (input[at] ?? 0) ^ (1 << random.int(0, 7));
      return input;
    default:
      return splice(input, at, some.length, some);
  }
}
