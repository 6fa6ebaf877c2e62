import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { descriptorSet } from '../../src/grpc/descriptor-set.js';
import { packageRoot } from '../../src/package-root.js';

// The generator accepts a misspelt option without a word, so what we rely on is looked for in what it wrote.

const gen = join(packageRoot(), 'gen');
const files = readdirSync(gen, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const textOf = new Map(files.map((name) => [name, readFileSync(join(gen, name), 'utf8')]));
const own = [...textOf].filter(([name]) => name.startsWith(join('stageplane', 'v1')));

/** Every text must match, and at least one file must be there to match. */
function expectEverywhere(texts: [string, string][], pattern: RegExp): void {
  expect(texts.length).toBeGreaterThan(0);
  for (const [name, text] of texts) expect(text, name).toMatch(pattern);
}

test('the files are those of the proto files, and no barrels (outputIndex off)', () => {
  const protos = [...descriptorSet().registry.files].map((file) => `${file.name}.ts`);
  expect(files.map((name) => name.replaceAll('\\', '/')).sort()).toEqual(protos.sort());
});

test('forceLong=bigint: 64-bit integers are bigint, and the long package is not used', () => {
  const run = textOf.get(join('stageplane', 'v1', 'run.ts'));
  expect(run).toMatch(/^ {2}runId: bigint;$/m);
  for (const [name, text] of own) expect(text, name).not.toMatch(/from "long"|longToNumber|: Long\b/);
});

test('oneof=unions-value: a oneof is a union with $case and value', () => {
  const agent = textOf.get(join('stageplane', 'v1', 'node_agent_service.ts'));
  expect(agent).toMatch(/\{ \$case: "hello"; value: Hello \}/);
});

test('outputServices=grpc-js: services are definitions for grpc-js, with client constructors', () => {
  const services = own.filter(([name]) => name.endsWith('_service.ts'));
  expect(services).toHaveLength(4);
  expectEverywhere(services, /^export const \w+Service = \{$/m);
  expectEverywhere(services, /requestSerialize: \(value: \w+\): Buffer =>/);
  expectEverywhere(services, /makeGenericClientConstructor\(/);
  expectEverywhere(services, /from "@grpc\/grpc-js";/);
});

test('importSuffix=.js: relative imports resolve under Node', () => {
  const imports = [...textOf].flatMap(([, text]) => [...text.matchAll(/ from "(\.[^"]*)"/g)].map((match) => match[1]));
  expect(imports.length).toBeGreaterThan(0);
  for (const path of imports) expect(path).toMatch(/\.js$/);
});

test('unrecognizedEnum=true: every enum has UNRECOGNIZED = -1', () => {
  for (const [name, text] of textOf) {
    const enums = text.match(/^export enum /gm)?.length ?? 0;
    expect(text.match(/^ {2}UNRECOGNIZED = -1,$/gm)?.length ?? 0, name).toBe(enums);
  }
});

test('useOptionals=messages: a message field may be absent, a scalar is always there', () => {
  const planner = textOf.get(join('stageplane', 'v1', 'planner.ts'));
  expect(planner).toMatch(/^ {2}token\?: RingSpec \| undefined;$/m);
  expect(planner).toMatch(/^ {2}stageCount: number;$/m);
});

test('exportCommonSymbols=false: helper types stay inside their file', () => {
  for (const [name, text] of textOf)
    expect(text, name).not.toMatch(/^export (type|interface) (DeepPartial|MessageFns)/m);
});

test('env=node: bytes are Buffers; times are Dates', () => {
  expect(textOf.get(join('google', 'protobuf', 'any.ts'))).toMatch(/^ {2}value: Buffer;$/m);
  expect(textOf.get(join('stageplane', 'v1', 'admin_service.ts'))).toMatch(/^ {2}startedAt\?: Date \| undefined;$/m);
});

test('the names that the message validator computes are those that were generated', () => {
  for (const file of descriptorSet().registry.files) {
    const text = textOf.get(join(...`${file.name}.ts`.split('/')));
    for (const message of file.messages) {
      for (const member of message.members) expect(text, member.toString()).toMatch(memberPattern(member.localName));
    }
  }
});

function memberPattern(localName: string): RegExp {
  return new RegExp(`^ {2}${localName}\\??:`, 'm');
}
