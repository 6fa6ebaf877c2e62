import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { DeviceKind, StageFeature } from '../../../gen/stageplane/v1/node.js';
import { parsePool, readPoolFile } from '../../../src/cli/config/pool-file.js';
import { limits } from '../../../src/core/limits.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);

function nodesOf(text: string) {
  const pool = parsePool(text);
  if (pool.kind === 'refused') throw new Error(JSON.stringify(pool.problems));
  return pool.nodes;
}

/** Problems as `where: what`. */
function problemsOf(text: string): string[] {
  const pool = parsePool(text);
  return pool.kind === 'read' ? [] : pool.problems.map(({ field, message }) => `${field}: ${message}`);
}

const ram = 'devices: [{id: cpu, memory: 8GiB}]';

describe('a file of nodes', () => {
  it('describes nodes with all that planning looks at', () => {
    const [node] = nodesOf(`
- name: attic
  cores: 8
  labels: {link-mbit: 100, zone: roof}
  devices:
    - {id: cpu, name: RAM, memory: 32GB, free: 20GB}
    - {id: 'cuda:0', name: NVIDIA GeForce RTX 4090, memory: 24GiB}
`);
    expect(node).toMatchObject({
      nodeId: 2n,
      name: 'attic',
      descriptor: { physicalCores: 8, labels: { 'link-mbit': '100', zone: 'roof' } },
      engines: [
        { name: 'llama.cpp', build: 'any', deviceIds: ['cpu'], features: [StageFeature.STAGE_FEATURE_SAMPLING] },
      ],
    });
    expect(node!.descriptor!.devices).toEqual([
      {
        ...{ deviceId: 'cpu', kind: DeviceKind.DEVICE_KIND_CPU, name: 'RAM' },
        ...{ totalBytes: 32_000_000_000n, freeBytes: 20_000_000_000n },
      },
      {
        ...{ deviceId: 'cuda:0', kind: DeviceKind.DEVICE_KIND_GPU, name: 'NVIDIA GeForce RTX 4090' },
        ...{ totalBytes: 24n << 30n, freeBytes: 24n << 30n },
      },
    ]);
  });

  it('may be JSON, which is YAML', () => {
    const json = JSON.stringify([{ name: 'a', devices: [{ id: 'cpu', memory: '8GiB' }] }]);
    expect(nodesOf(json).map(({ name }) => name)).toEqual(['a']);
  });

  it('repeats a node, with ids from 2 on', () => {
    const nodes = nodesOf(`[{name: a, ${ram}}, {name: b, count: 3, ${ram}}]`);
    expect(nodes.map(({ nodeId, name }) => [nodeId, name])).toEqual([
      [2n, 'a'],
      [3n, 'b-1'],
      [4n, 'b-2'],
      [5n, 'b-3'],
    ]);
  });

  it('names engines of its own, on all devices when it does not say which', () => {
    const [node] = nodesOf('[{name: a, devices: [{id: "cuda:0", memory: 24GiB}], engines: [{name: own, build: v2}]}]');
    expect(node!.engines).toEqual([
      { name: 'own', build: 'v2', deviceIds: ['cuda:0'], features: [StageFeature.STAGE_FEATURE_SAMPLING] },
    ]);
  });

  it('may name a part once and use it again', () => {
    const nodes = nodesOf(`[{name: a, devices: &same [{id: cpu, memory: 8GiB}]}, {name: b, devices: *same}]`);
    expect(nodes[1]!.descriptor!.devices[0]!.totalBytes).toBe(8n << 30n);
  });
});

describe('what is wrong with a file of nodes', () => {
  it('is told with line and field, all of it at once', () => {
    const text = `
- name: Attic Room
  memroy: 8
  devices:
    - id: cpu
      memory: 24
    - {id: 'cuda:0', memory: 8GiB, free: 9GiB}
- name: b
  cores: 0
  count: many
  devices: 3
`;
    expect(problemsOf(text)).toEqual([
      'line 3, nodes[0].memroy: is unknown here; write one of name, devices, cores, count, labels, engines',
      'line 2, nodes[0].name: "Attic Room" is no node name; use at most 63 of a-z, 0-9 and "-", and no "-" at either end',
      'line 6, nodes[0].devices[0].memory: 24 is no size; write one such as 24GB or 24GiB',
      'line 7, nodes[0].devices[1].free: is more than its memory; say at most that',
      'line 11, nodes[1].devices: 3 is no list; list devices, such as [{id: cpu, memory: 64GiB}]',
      'line 10, nodes[1].count: "many" is no count; write a whole number from 1 to 1000',
      'line 9, nodes[1].cores: 0 is no count; write a whole number from 1 to 65536',
      expect.stringMatching(/^line 8, nodes\[1\]\.engines: is missing, and "llama\.cpp" computes in RAM alone: add /),
    ]);
  });

  it.each([
    ['', /^nodes: null is no list; list nodes, such as /],
    ['name: a', /^line 1, nodes: \{"name":"a"\} is no list/],
    ['- name: [a', /^line 1: /],
    ['- a: 1\n  a: 2', /^line 2: Map keys must be unique/],
    ['[{name: a}]', /^line 1, nodes\[0\]\.devices: nothing is no list/],
    [`[{name: a, ${ram}}, {name: a, ${ram}}]`, /^line 1, nodes: have the name "a" twice/],
    [
      `[{name: a, ${ram}, count: 600}, {name: b, ${ram}, count: 600}]`,
      /are 1200 with all copies; describe at most 1000/,
    ],
    [`[{name: a, ${ram}, labels: {x: [1]}}]`, /nodes\[0\]\.labels\.x: is no text/],
    [
      `[{name: a, ${ram}, engines: [{name: own, devices: [cpu, tpu]}]}]`,
      /engines\[0\]\.devices: names "tpu"; name devices/,
    ],
    [`[7, {name: a, ${ram}}]`, /^line 1, nodes\[0\]: 7 is no map; write name, /],
  ])('is told of %j', (text, expected) => {
    expect(problemsOf(text)[0]).toMatch(expected);
  });

  it('is told of the first sixteen places only', () => {
    expect(problemsOf(`[${'7, '.repeat(100)}7]`)).toHaveLength(limits.violationsPerRejection);
  });

  it('is never an exception, whatever the text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'-:[]{}&*ab \n#"\'|>!%'), maxLength: 40 });
    fc.assert(fc.property(text, (nodes) => void problemsOf(nodes)));
    expect(problemsOf('[*a]')[0]).toContain('a');
    expect(problemsOf('['.repeat(50_000))[0]).toMatch(/^line 1: /);
    expect(problemsOf('&a [*a]')[0]).toContain('a list is no map');
    expect(problemsOf('- &a x\n- *a\n'.repeat(1001))[0]).toContain('repeat what was named before 1001 times');
  });

  it('is told of a file that repeats itself without end, is too large, or is none', async () => {
    const path = join(folder, 'nodes.yaml');
    const levels = 'abcdef'.split('').map((name, at, all) => {
      const inner = at === 0 ? 'x' : `*${all[at - 1]}`;
      return `- &${name} [${Array<string>(10).fill(inner).join(', ')}]`;
    });
    writeFileSync(path, levels.join('\n'));
    expect(await readPoolFile(path)).toMatchObject({
      problems: [{ field: `${path}, nodes`, message: expect.stringContaining('Excessive alias count') }],
    });
    writeFileSync(path, '#'.repeat(limits.poolFileBytes + 1));
    expect(await readPoolFile(path)).toMatchObject({
      problems: [{ message: expect.stringContaining('has 1048577 bytes; describe the pool in at most 1048576') }],
    });
    for (const none of [folder, join(folder, 'missing')]) {
      expect(await readPoolFile(none)).toMatchObject({
        problems: [{ message: expect.stringContaining('is no file') }],
      });
    }
  });
});
