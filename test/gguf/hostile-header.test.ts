import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { type TensorTypeName, tensorTypes } from '../../src/core/tensors/tensor-type.js';
import { encodeHeader, type WritableHeader } from '../../src/gguf/encode-header.js';
import type { GgufError } from '../../src/gguf/gguf-error.js';
import { readHeader } from '../../src/gguf/read-header.js';
import { valueTypes } from '../../src/gguf/value-type.js';
import { MemorySource } from './memory-source.js';
import { RawBytes, rawHeader } from './raw-bytes.js';

async function refusalOf(bytes: Uint8Array, size?: number): Promise<GgufError> {
  const source = new MemorySource(bytes, 'hostile.gguf', size);
  const read = await readHeader(source);
  expect(source.totalRead).toBeLessThanOrEqual(bytes.length);
  if (read.kind === 'read') throw new Error('the header was accepted');
  expect(read.error.message).toContain('hostile.gguf');
  return read.error;
}

const typeId = (name: (typeof valueTypes)[number]) => valueTypes.indexOf(name);

describe('what is no GGUF file at all', () => {
  const cases: [string, string | Uint8Array, GgufError['kind'], string][] = [
    ['an empty file', '', 'empty-file', 'empty'],
    ['a file cut inside the magic', 'GGU', 'truncated', 'ends after 3 bytes'],
    ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:00', 'lfs-pointer', 'git lfs pull'],
    ['a text file', 'Dear model,\n', 'not-gguf', 'is a text file, where'],
    ['a web page', '<!DOCTYPE html><html>', 'not-gguf', 'web page'],
    ['a file from before GGUF', 'tjgg\x03\0\0\0', 'not-gguf', 'before GGUF'],
    ['a safetensors file', '\x10\0\0\0\0\0\0\0{"__metadata__":{}}', 'not-gguf', 'safetensors'],
    ['a zip archive', 'PK\x03\x04', 'not-gguf', 'zip'],
    ['a draft of the format', 'FUGG\x01\0\0\0', 'not-gguf', '"FUGG"'],
    ['bytes that are no text', Uint8Array.of(1, 2, 3, 255), 'not-gguf', '\\u0001\\u0002\\u0003'],
  ];
  it.each(cases)('%s', async (_, content, kind, sentence) => {
    const error = await refusalOf(Buffer.from(content as string, 'latin1'));
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(sentence);
  });
});

describe('versions', () => {
  it('big-endian files are refused by name', async () => {
    const error = await refusalOf(new RawBytes().text('GGUF').bytes(0, 0, 0, 3).zeros(64).build());
    expect(error).toMatchObject({ kind: 'big-endian', message: expect.stringContaining('big-endian') });
  });

  it.each([0, 4, 0x10003])('version %i is unsupported', async (version) => {
    const error = await refusalOf(new RawBytes().text('GGUF').u32(version).zeros(64).build());
    expect(error).toMatchObject({ kind: 'unsupported-version', message: expect.stringContaining(String(version)) });
  });
});

describe('lengths that the file cannot hold are refused before anything is allocated', () => {
  it('a string of a terabyte in a file of 49 bytes', async () => {
    const bytes = rawHeader(0, 1)
      .u64(1)
      .text('k')
      .u32(typeId('string'))
      .u64(2n ** 40n)
      .zeros(4)
      .build();
    expect(bytes).toHaveLength(49);
    const error = await refusalOf(bytes);
    expect(error).toMatchObject({ kind: 'truncated', key: 'k', message: expect.stringContaining('download it again') });
  });

  it.each([2n ** 31n, 2n ** 53n + 1n, 2n ** 64n - 1n])('%i keys, tensors, or bytes of a key', async (huge) => {
    expect((await refusalOf(rawHeader(0, huge).zeros(100).build())).kind).toBe('too-large');
    expect((await refusalOf(rawHeader(huge, 0).zeros(100).build())).kind).toBe('too-large');
    expect((await refusalOf(rawHeader(0, 1).u64(huge).zeros(100).build())).kind).toBe('truncated');
  });

  it('counts under the limits that the file is too short for', async () => {
    expect((await refusalOf(rawHeader(0, 1000).zeros(100).build())).kind).toBe('truncated');
    expect((await refusalOf(rawHeader(1000, 0).zeros(100).build())).kind).toBe('truncated');
  });

  it('arrays', async () => {
    const array = (type: number, length: bigint | number) =>
      rawHeader(0, 1).string('k').u32(typeId('array')).u32(type).u64(length).zeros(100).build();
    expect(await refusalOf(array(typeId('uint8'), 2n ** 64n - 1n))).toMatchObject({ kind: 'too-large', key: 'k' });
    for (const type of ['uint8', 'float64', 'string'] as const) {
      const error = await refusalOf(array(typeId(type), limits.ggufArrayElements));
      expect(error).toMatchObject({ kind: 'truncated', key: 'k' });
    }
  });

  it('a string inside a long array', async () => {
    const raw = rawHeader(0, 1).string('k').u32(typeId('array')).u32(typeId('string')).u64(2000);
    for (let index = 0; index < 1999; index++) raw.string('token');
    expect(await refusalOf(raw.u64(2n ** 63n).build())).toMatchObject({ kind: 'truncated', key: 'k' });
  });

  it('a header over the limit, in a file that claims to be larger still', async () => {
    const bytes = rawHeader(0, 1).string('k').u32(typeId('string')).u64(limits.ggufHeaderBytes).build();
    const source = new MemorySource(Buffer.concat([bytes], 64 * 1024), 'hostile.gguf', 2 ** 40);
    expect(await readHeader(source)).toMatchObject({ kind: 'refused', error: { kind: 'too-large', key: 'k' } });
    expect(source.largestRead).toBeLessThanOrEqual(64 * 1024);
  });

  it('every cut of a valid header', async () => {
    const whole = encodeHeader(validHeader);
    const tableEnd = await readHeader(new MemorySource(withData(whole))).then((read) =>
      read.kind === 'read' ? read.header.tableEnd : 0,
    );
    expect(tableEnd).toBeGreaterThan(100);
    for (let length = 0; length < tableEnd; length++) {
      const { kind } = await refusalOf(whole.slice(0, length));
      expect(['empty-file', 'truncated']).toContain(kind);
    }
  });
});

describe('metadata', () => {
  it('an unknown value type is named with its key', async () => {
    const error = await refusalOf(rawHeader(0, 1).string('odd.key').u32(13).zeros(32).build());
    expect(error).toMatchObject({ kind: 'unknown-value-type', key: 'odd.key' });
    expect(error.message).toMatch(/type 13.*"odd\.key"/);
  });

  it('an unknown element type and arrays of arrays', async () => {
    const array = (type: number) => rawHeader(0, 1).string('k').u32(typeId('array')).u32(type).u64(1).zeros(64).build();
    expect(await refusalOf(array(99))).toMatchObject({ kind: 'unknown-value-type', key: 'k' });
    expect(await refusalOf(array(typeId('array')))).toMatchObject({ kind: 'nested-array', key: 'k' });
  });

  it('a key twice', async () => {
    const error = await refusalOf(
      encodeHeader({
        metadata: [
          ['a', uint32(1)],
          ['b', uint32(1)],
          ['a', uint32(2)],
        ],
        tensors: [],
      }),
    );
    expect(error).toMatchObject({ kind: 'duplicate-key', key: 'a' });
  });

  it('keys that are empty, too long, no UTF-8, or have control characters', async () => {
    const key = (bytes: number[]) =>
      rawHeader(0, 1)
        .u64(bytes.length)
        .bytes(...bytes)
        .u32(0)
        .zeros(16)
        .build();
    expect((await refusalOf(key([]))).kind).toBe('bad-name');
    expect((await refusalOf(key([0x61, 0xff]))).kind).toBe('bad-name');
    expect((await refusalOf(key([0xed, 0xa0, 0x80]))).kind).toBe('bad-name');
    expect((await refusalOf(key([0x61, 0x00, 0x62]))).kind).toBe('bad-name');
    expect((await refusalOf(key([0x1b, 0x5b]))).kind).toBe('bad-name');
    expect((await refusalOf(key(new Array(limits.ggufKeyBytes + 1).fill(0x61)))).kind).toBe('too-large');
  });

  it('a key that differs from another by a byte order mark alone is another key', async () => {
    const bytes = rawHeader(0, 2).string('a').u32(0).bytes(1).string('\ufeffa').u32(0).bytes(2).zeros(32).build();
    const read = await readHeader(new MemorySource(bytes));
    expect(read.kind === 'read' && [...read.header.metadata.entries.keys()]).toEqual(['a', '\ufeffa']);
  });

  it('a hostile key is quoted on one short line', async () => {
    const error = await refusalOf(
      rawHeader(0, 1)
        .string(`"\u2028${'x'.repeat(5000)}`)
        .u32(13)
        .build(),
    );
    expect(error.message.length).toBeLessThan(300);
    expect(error.message).toContain('\\"');
  });

  it('a stray byte in a value refuses nothing', async () => {
    const bytes = rawHeader(0, 1).string('general.name').u32(typeId('string')).string('\ufeffa\u0000').build();
    bytes[bytes.length - 1] = 0xff;
    const read = await readHeader(new MemorySource(bytes));
    expect(read.kind === 'read' && read.header.metadata.text('general.name')).toBe('\ufeffa\ufffd');
  });

  it.each([0, 3, 48])('an alignment of %i', async (alignment) => {
    const error = await refusalOf(encodeHeader({ metadata: [['general.alignment', uint32(alignment)]], tensors: [] }));
    expect(error).toMatchObject({ kind: 'bad-alignment', key: 'general.alignment' });
  });

  it('an alignment of another type', async () => {
    const metadata: WritableHeader['metadata'] = [['general.alignment', { type: 'uint64', value: 32n }]];
    expect((await refusalOf(encodeHeader({ metadata, tensors: [] }))).kind).toBe('bad-alignment');
  });
});

describe('the tensor table', () => {
  const row = (name: string, dims: (number | bigint)[], type: number, offset: number | bigint) => {
    const raw = rawHeader(1, 0).string(name).u32(dims.length);
    for (const extent of dims) raw.u64(extent);
    return raw.u32(type).u64(offset).zeros(4096).build();
  };

  it('accepts the row that the others vary', async () => {
    expect((await readHeader(new MemorySource(row('t', [32, 2], 8, 64)))).kind).toBe('read');
  });

  it.each([4, 5, 31, 33, 36, 38, 41, 1000, 0xffff_ffff])('type %i is unknown or removed', async (type) => {
    const error = await refusalOf(row('blk.0.x', [32], type, 0));
    expect(error).toMatchObject({ kind: 'unknown-tensor-type', tensor: 'blk.0.x' });
    expect(error.message).toContain(String(type));
  });

  it('names of 63 bytes pass, of 64 do not', async () => {
    expect((await readHeader(new MemorySource(row('n'.repeat(63), [32], 0, 0)))).kind).toBe('read');
    expect((await refusalOf(row('n'.repeat(64), [32], 0, 0))).kind).toBe('too-large');
    expect((await refusalOf(row('', [32], 0, 0))).kind).toBe('bad-name');
    expect((await refusalOf(row('a\0b', [32], 0, 0))).kind).toBe('bad-name');
  });

  it('1 to 4 dimensions, each at least 1', async () => {
    for (const dims of [[], [1, 1, 1, 1, 1], [0], [32, 0], [2n ** 64n - 1n], [2n ** 53n]]) {
      expect(await refusalOf(row('t', dims, 0, 0))).toMatchObject({ kind: 'bad-dims', tensor: 't' });
    }
  });

  it('a dimension count of four billion', async () => {
    const bytes = rawHeader(1, 0).string('t').u32(0xffff_ffff).zeros(4096).build();
    expect((await refusalOf(bytes)).kind).toBe('bad-dims');
  });

  it.each(Object.entries(tensorTypes))('rows of %s are whole blocks', async (name, { id, block, bytes }) => {
    const read = await readHeader(new MemorySource(row('t', [block, 3], id, 0)));
    expect(read.kind === 'read' && read.header.tensors[0]).toMatchObject({ type: name, bytes: 3 * bytes });
    if (block > 1) expect((await refusalOf(row('t', [block + 1], id, 0))).kind).toBe('bad-dims');
  });

  it('products that overflow 64 bits are outside the file, not small', async () => {
    for (const dims of [
      [2 ** 32, 2 ** 32, 2 ** 32, 2 ** 32],
      [2 ** 52, 2 ** 12],
      [2 ** 32, 2 ** 32],
    ]) {
      expect(await refusalOf(row('t', dims, 0, 0))).toMatchObject({ kind: 'tensor-outside-file', tensor: 't' });
    }
  });

  it('offsets are aligned and inside the file', async () => {
    expect(await refusalOf(row('t', [32], 0, 16))).toMatchObject({ kind: 'misaligned-tensor', tensor: 't' });
    expect((await refusalOf(row('t', [32], 0, 4096))).kind).toBe('tensor-outside-file');
    expect((await refusalOf(row('t', [32], 0, 2n ** 64n - 32n))).kind).toBe('tensor-outside-file');
  });

  it('a download that lacks its last byte', async () => {
    const whole = withData(encodeHeader(validHeader));
    expect((await readHeader(new MemorySource(whole))).kind).toBe('read');
    const error = await refusalOf(whole.slice(0, -1));
    expect(error).toMatchObject({ kind: 'tensor-outside-file', tensor: 'blk.0.b' });
    expect(error.message).toContain('incomplete');
  });

  it('tensors that overlap, in any order', async () => {
    const overlap = (first: number, second: number) =>
      rawHeader(2, 0).string('a').u32(1).u64(64).u32(0).u64(first).string('b').u32(1).u64(64).u32(0).u64(second);
    expect((await readHeader(new MemorySource(overlap(256, 0).zeros(4096).build()))).kind).toBe('read');
    for (const [first, second] of [
      [0, 0],
      [0, 224],
      [224, 0],
    ] as const) {
      expect((await refusalOf(overlap(first, second).zeros(4096).build())).kind).toBe('overlapping-tensors');
    }
  });

  it('a name twice', async () => {
    const tensors = [tensor('a'), tensor('b'), tensor('a')];
    const error = await refusalOf(withData(encodeHeader({ metadata: [], tensors })));
    expect(error).toMatchObject({ kind: 'duplicate-tensor', tensor: 'a' });
  });
});

function uint32(value: number) {
  return { type: 'uint32', value } as const;
}

function tensor(name: string): { name: string; type: TensorTypeName; dims: number[] } {
  return { name, type: 'F32', dims: [8] };
}

/** Two tensors of 32 bytes each. */
const validHeader: WritableHeader = {
  metadata: [
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['llama.block_count', uint32(1)],
    ['tags', { type: 'array', elements: 'string', items: ['a', 'bc'] }],
    ['counts', { type: 'array', elements: 'uint16', items: [1, 2, 3] }],
  ],
  tensors: [tensor('blk.0.a'), tensor('blk.0.b')],
};

function withData(header: Uint8Array): Uint8Array {
  return Buffer.concat([header], header.length + 64);
}
