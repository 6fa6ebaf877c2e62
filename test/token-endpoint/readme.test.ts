import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { TokenEndpointCommand, TokenEndpointEvent } from '../../gen/stageplane/v1/token_endpoint.js';
import { parseMessageLine } from '../../src/worker/parse-message-line.js';

const readme = await readFile(new URL('../../src/token-endpoint/README.md', import.meta.url), 'utf8');
const [commands = [], events = []] = [...readme.matchAll(/```json\n(.*?)```/gs)].map(([, block]) =>
  block!.trim().split('\n'),
);

test('every command of the protocol has an example that parses', () => {
  const cases = commands.map((line) => {
    const parsed = parseMessageLine(TokenEndpointCommand, line);
    return parsed.kind === 'message' && parsed.message.command?.$case;
  });
  const all = ['open', 'generate', 'acknowledge', 'cancel', 'endConversation', 'checkHealth', 'close'];
  expect(cases).toEqual(all);
});

test('every event of the protocol has an example that parses', () => {
  const cases = events.map((line) => {
    const parsed = parseMessageLine(TokenEndpointEvent, line);
    return parsed.kind === 'message' && parsed.message.event?.$case;
  });
  expect(cases).toEqual(['hello', 'ready', 'delta', 'done', 'refused', 'fault', 'health', 'stopped']);
});
