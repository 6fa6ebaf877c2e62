import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { GgufError } from '../../src/gguf/gguf-error.js';
import { inspectModel } from '../../src/gguf/inspect-model.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type HeaderField, headerFields } from './header-fields.js';
import { MemorySource } from './memory-source.js';

const folder = temporaryFolder(afterAll);

/** What a hostile file would put in place of a number. */
const interesting = [
  ...[0n, 1n, 2n, 3n, 5n, 8n, 9n, 13n, 31n, 32n, 33n, 63n, 64n, 255n, 256n, 65_535n, 65_536n],
  ...[31n, 32n, 53n, 63n, 64n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]),
];

const mutations = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('field' as const),
        at: fc.nat(),
        value: fc.constantFrom(...interesting),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('byte' as const), at: fc.nat(), value: fc.nat(255) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('insert' as const), at: fc.nat(), value: fc.nat(255) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), length: fc.nat(200) }) },
  ),
  { minLength: 1, maxLength: 3 },
);

type Mutations = typeof mutations extends fc.Arbitrary<infer T> ? T : never;

function mutate(original: Uint8Array, fields: readonly HeaderField[], changes: Mutations): Uint8Array {
  const headerBytes = fields.at(-1)!.offset + 8;
  let bytes = Buffer.from(original);
  for (const change of changes) {
    const at = change.at % Math.min(headerBytes, Math.max(bytes.length, 1));
    if (change.kind === 'field') {
      const field = fields[change.at % fields.length]!;
      if (field.offset + field.bytes > bytes.length) continue;
      if (field.bytes === 4) bytes.writeUInt32LE(Number(BigInt.asUintN(32, change.value)), field.offset);
      else bytes.writeBigUInt64LE(BigInt.asUintN(64, change.value), field.offset);
    } else if (change.kind === 'byte') bytes[at] = change.value;
    else if (change.kind === 'cut') bytes = bytes.subarray(0, at);
    else if (change.kind === 'insert')
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.of(change.value), bytes.subarray(at)]);
    else bytes = Buffer.concat([bytes.subarray(0, at + change.length), bytes.subarray(at)]);
  }
  return bytes;
}

describe('a header with up to three changes', () => {
  it.each([1, 2, 3] as const)(
    'of version %i is inspected or refused, and costs no more than the file',
    async (version) => {
      const [path] = await writeTinyModel(join(folder, `mutated-v${version}.gguf`), {
        version,
        layers: 2,
        hidden: 8,
        feedForward: 8,
        heads: 1,
        headsKv: 1,
        vocabulary: 260,
      });
      const original = readFileSync(path);
      const fields = headerFields(original);
      const outcomes = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(mutations, async (changes) => {
          const source = new MemorySource(mutate(original, fields, changes), 'mutated.gguf');
          const result = await inspectModel('mutated.gguf', { open: async () => ({ kind: 'opened', source }) });
          expect(source.closed).toBe(1);
          expect(source.totalRead).toBeLessThanOrEqual(source.size);
          if (result.kind === 'refused') {
            expect(result.error).toBeInstanceOf(GgufError);
            expect(result.error.message.length).toBeLessThan(500);
          }
          const outcome = result.kind === 'refused' ? result.error.kind : result.kind;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }),
        { numRuns: 1000, seed: 20 + version },
      );
      // The changes reach beyond the first check: many files pass, and refusals are of many kinds.
      expect(outcomes.get('inspected')).toBeGreaterThan(20);
      expect(outcomes.size).toBeGreaterThan(10);
    },
  );
});
