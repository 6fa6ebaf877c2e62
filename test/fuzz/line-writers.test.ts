import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { GenerateText } from '../../gen/stageplane/v1/token_endpoint.js';
import { WorkerProcess } from '../../src/agent/worker-process.js';
import { defaultWorkerTimings } from '../../src/agent/worker-timings.js';
import { EndpointHost } from '../../src/token-endpoint/endpoint-host.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { CHUNKING_BYTES, withChunking } from './chunks.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { honestLines } from './honest-lines.js';
import { mutateLines } from './line-mutation.js';

const folder = temporaryFolder(afterAll);
const timings = { ...defaultWorkerTimings, stopGrace: 100 };

const seedsOf = (lines: readonly string[]) => [
  withChunking(Buffer.from(`${lines.join('\n')}\n`)),
  withChunking(Buffer.from(`${[...lines].reverse().join('\n')}\n`)),
];

test('a worker that writes anything at all is heard until it fails, and ends once', {
  timeout: fuzzTimeout,
}, async () => {
  const seeds = seedsOf(honestLines.workerEvents);
  const outcomes = await fuzz({ name: 'worker-writer', seeds, mutate: mutateLines, run: runWorker });
  expect(outcomes.size).toBeGreaterThan(3);
});

test('a token endpoint that writes anything at all is lost once', { timeout: fuzzTimeout }, async () => {
  const seeds = seedsOf(honestLines.endpointEvents);
  const outcomes = await fuzz({ name: 'endpoint-writer', seeds, mutate: mutateLines, run: runEndpoint });
  expect(outcomes.size).toBeGreaterThan(3);
});

/** A process that writes the input and ends. */
function writerOf(input: Buffer): string[] {
  const path = join(folder, 'lines');
  writeFileSync(path, input.subarray(CHUNKING_BYTES));
  return ['cat', path];
}

async function runWorker(input: Buffer): Promise<string> {
  const heard: string[] = [];
  const worker = new WorkerProcess({ command: writerOf(input), timings, onLogError: () => {} });
  const hear = (what: string) => () => void heard.push(what);
  worker.listen({
    greeted: hear('greeted'),
    loading: hear('loading'),
    ready: hear('ready'),
    faulted: hear('faulted'),
    healthy: hear('healthy'),
    failed: hear('failed'),
    exited: hear('exited'),
  });
  await worker.reaped;
  assert.equal(heard.indexOf('exited'), heard.length - 1, heard.join(' '));
  if (heard.includes('failed')) assert.equal(heard.indexOf('failed'), heard.length - 2, heard.join(' '));
  assert(heard.filter((what) => what === 'greeted').length <= 1);
  return [...new Set(heard)].join(' ');
}

async function runEndpoint(input: Buffer): Promise<string> {
  const heard: string[] = [];
  const host = new EndpointHost(
    {
      ready: () => void heard.push('ready'),
      lost: () => void heard.push('lost'),
      healthy: () => void heard.push('healthy'),
    },
    { timings, command: writerOf(input) },
  );
  const answer: string[] = [];
  host.generate(GenerateText.fromPartial({ maxTokens: 1 }), {
    delta: () => void answer.push('delta'),
    done: () => void answer.push('done'),
    refused: () => void answer.push('refused'),
  });
  await host.reaped;
  assert.equal(heard.indexOf('lost'), heard.length - 1, heard.join(' '));
  assert(heard.filter((what) => what === 'ready').length <= 1, heard.join(' '));
  // Every answer has one end, and nothing after it.
  assert.equal(answer.filter((what) => what !== 'delta').length, 1, answer.join(' '));
  assert.notEqual(answer.at(-1), 'delta');
  return `${[...new Set(heard)].join(' ')}; ${[...new Set(answer)].join(' ')}`;
}
