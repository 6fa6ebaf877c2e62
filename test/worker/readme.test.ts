import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { WorkerCommand, WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { parseMessageLine } from '../../src/worker/parse-message-line.js';

const readme = await readFile(new URL('../../src/worker/README.md', import.meta.url), 'utf8');
const [commands = [], events = []] = [...readme.matchAll(/```json\n(.*?)```/gs)].map(([, block]) =>
  block!.trim().split('\n'),
);

test('every command of the protocol has an example that parses', () => {
  const cases = commands.map((line) => {
    const parsed = parseMessageLine(WorkerCommand, line);
    return parsed.kind === 'message' && parsed.message.command?.$case;
  });
  expect(cases).toEqual(['prepare', 'checkHealth', 'stop']);
});

test('every event of the protocol has an example that parses', () => {
  const cases = events.map((line) => {
    const parsed = parseMessageLine(WorkerEvent, line);
    return parsed.kind === 'message' && parsed.message.event?.$case;
  });
  expect(cases).toEqual(['hello', 'loading', 'ready', 'fault', 'health', 'stopped']);
});
