import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { TokenEndpointCommand, TokenEndpointEvent } from '../../gen/stageplane/v1/token_endpoint.js';
import { WorkerCommand, WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { checkOpen } from '../../src/token-endpoint/check-open.js';
import { TokenEndpoint } from '../../src/token-endpoint/token-endpoint.js';
import { type Line, LineSplitter } from '../../src/worker/line-splitter.js';
import { type ParsedLine, parseMessageLine } from '../../src/worker/parse-message-line.js';
import { StageWorker } from '../../src/worker/stage-worker.js';
import { CHUNKING_BYTES, chunksOf, withChunking } from './chunks.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { honestLines } from './honest-lines.js';
import { mutateLines } from './line-mutation.js';

const MAX_BYTES = 64 * 1024;
const LONGEST_SENTENCE = 700;
const seeds = Object.values(honestLines).map((lines) => withChunking(Buffer.from(`${lines.join('\n')}\n`)));

test('hostile lines become messages or sentences, however they are cut', { timeout: fuzzTimeout }, async () => {
  const outcomes = await fuzz({ name: 'lines', seeds, mutate: mutateLines, run: runLines });
  expect(outcomes.size).toBeGreaterThan(30);
});

function runLines(input: Buffer): string {
  const splitter = new LineSplitter(MAX_BYTES);
  const lines = chunksOf(input).flatMap((chunk) => splitter.push(chunk));
  assert.deepEqual(lines, linesOf(input.subarray(CHUNKING_BYTES)));
  const kinds = new Set(lines.flatMap((line) => (line.kind === 'line' ? kindsOf(line.text) : [line.kind])));
  return `${[...kinds].slice(0, 2).join(' ')}; ${runWorker(lines)}; ${runEndpoint(lines)}`;
}

/** The same, thought out once more with all bytes at hand. */
function linesOf(bytes: Buffer): Line[] {
  const parts = bytes.toString('latin1').split('\n');
  return parts.flatMap((part, index): Line[] => {
    if (part.length > MAX_BYTES) return [{ kind: 'too-long' }];
    const text = Buffer.from(part, 'latin1').toString('utf8').trim();
    return text === '' || index === parts.length - 1 ? [] : [{ kind: 'line', text }];
  });
}

function kindsOf(line: string): string[] {
  return [
    kindOf(WorkerCommand, line, ({ command }) => command?.$case),
    kindOf(WorkerEvent, line, ({ event }) => event?.$case),
    kindOf(TokenEndpointCommand, line, ({ command }) => command?.$case),
    kindOf(TokenEndpointEvent, line, ({ event }) => event?.$case),
  ].filter((kind) => kind !== undefined);
}

interface Codec<T> {
  fromJSON(json: unknown): T;
  toJSON(message: T): unknown;
}

/** A message that was taken is one that could have been sent: it says the same when it is sent on. */
function kindOf<T extends object>(codec: Codec<T>, line: string, caseOf: (message: T) => string | undefined) {
  const parsed = parseMessageLine(codec, line);
  if (parsed.kind === 'malformed') {
    assert(parsed.problem.length < LONGEST_SENTENCE, parsed.problem);
    return parsed.problem.split(' ').slice(0, 3).join(' ');
  }
  const text = JSON.stringify(codec.toJSON(parsed.message));
  const again: ParsedLine<T> = parseMessageLine(codec, text);
  assert.equal(again.kind === 'malformed' ? again.problem : JSON.stringify(codec.toJSON(again.message)), text);
  return caseOf(parsed.message);
}

const log = { info: () => {}, warn: () => {}, error: () => {} };

function runWorker(lines: readonly Line[]): string {
  const said: string[] = [];
  let stops = 0;
  const engine = { stepMillis: () => 0, usage: () => ({ heldSessions: 0, heldTokens: 0n }), stop: async () => {} };
  const worker = new StageWorker({
    say: (event) => {
      if (event.$case === 'fault') assert(event.value.message.length < LONGEST_SENTENCE, event.value.message);
      said.push(event.$case);
    },
    log,
    now: () => 0,
    startEngine: () => engine,
    stop: () => {
      stops += 1;
    },
  });
  for (const line of lines) worker.receive(line);
  assert(said.filter((kind) => kind === 'fault').length <= 1);
  return `worker ${[...new Set(said)].join(' ')}${stops > 0 ? ' stop' : ''}`;
}

function runEndpoint(lines: readonly Line[]): string {
  const said: string[] = [];
  const endpoint = new TokenEndpoint({
    say: (event) => said.push(event.$case),
    log,
    now: () => 0,
    later: () => () => {},
    close: () => {},
  });
  for (const line of lines) {
    const parsed = line.kind === 'line' ? parseMessageLine(TokenEndpointCommand, line.text) : undefined;
    const command = parsed?.kind === 'message' ? parsed.message.command : undefined;
    // An endpoint would open the sockets and the model that it names.
    if (command?.$case === 'open') checkOpen(command.value);
    else endpoint.receive(line);
  }
  assert(said.filter((kind) => kind === 'fault').length <= 1);
  return `endpoint ${[...new Set(said)].join(' ')}`;
}
