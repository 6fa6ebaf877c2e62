import { expect, test } from 'vitest';
import { TokenEndpointCommand } from '../../gen/stageplane/v1/token_endpoint.js';
import { WorkerCommand, WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { parseMessageLine } from '../../src/worker/parse-message-line.js';
import { prepareCommand } from './prepare-command.js';
import { commandLine } from './worker-process.js';

test('a line of our own comes back as the same message', () => {
  const prepare = prepareCommand({ modelPath: 'm.gguf', totalLayers: 2, hiddenDim: 4 });
  const command = { $case: 'prepare', value: prepare } as const;
  expect(parseMessageLine(WorkerCommand, commandLine(command))).toEqual({ kind: 'message', message: { command } });
});

test("protobuf's own field names, numbers for 64 bits, nulls and unknown fields are accepted", () => {
  const text = '{"check_health":{"sequence":5,"later":true},"stop":null}';
  expect(parseMessageLine(WorkerCommand, text)).toMatchObject({ message: { command: { value: { sequence: 5n } } } });
});

test.each([
  ['{"prepare":{"settings":{"fidelity":"FIDELITY_MAGIC"}}}', '"FIDELITY_MAGIC" at "prepare.settings.fidelity"'],
  ['{"prepare":{"settings":{"fidelity":99}}}', '99 at "prepare.settings.fidelity"'],
  ['{"prepare":{"settings":{"threads":-1}}}', '-1 at "prepare.settings.threads"'],
  ['{"prepare":{"settings":{"threads":1.5}}}', '1.5 at "prepare.settings.threads"'],
  ['{"prepare":{"settings":{"threads":"many"}}}', '"many" at "prepare.settings.threads"'],
  ['{"prepare":{"settings":{"flash_attention":"yes"}}}', '"yes" at "prepare.settings.flashAttention"'],
  ['{"prepare":{"settings":{"seed":"-1"}}}', '"-1" at "prepare.settings.seed"'],
  ['{"prepare":{"settings":7}}', '7 at "prepare.settings"'],
  ['{"prepare":{"modelPath":{}}}', '{} at "prepare.modelPath"'],
  ['{"prepare":{"provision":{"ggufSource":{"localPath":1}}}}', '1 at "prepare.provision.ggufSource.localPath"'],
  ['{"prepare":[]}', '[] at "prepare"'],
])('%s is refused by the name of its field', (text, named) => {
  expect(parseMessageLine(WorkerCommand, text)).toMatchObject({
    kind: 'malformed',
    problem: expect.stringContaining(named),
  });
});

test('a number that is longer than any, and no number, is not repeated whole', () => {
  const text = `{"checkHealth":{"sequence":"${'9'.repeat(5000)}x"}}`;
  const parsed = parseMessageLine(WorkerCommand, text);
  expect(parsed).toMatchObject({
    problem: expect.stringMatching(/^has a value of the wrong type: "Cannot convert 99/),
  });
  expect(JSON.stringify(parsed).length).toBeLessThan(500);
});

test.each([
  [-200, undefined],
  ['-200', undefined],
  [-(2 ** 31) - 1, 'presencePenaltyMillis'],
  [0.5, 'presencePenaltyMillis'],
])('a field of either sign takes what fits: %j', (presencePenaltyMillis, problem) => {
  const line = JSON.stringify({ generate: { sampling: { policy: { presencePenaltyMillis } } } });
  const parsed = parseMessageLine(TokenEndpointCommand, line);
  if (problem === undefined) expect(parsed).toMatchObject({ kind: 'message' });
  else expect(parsed).toMatchObject({ kind: 'malformed', problem: expect.stringContaining(problem) });
  const unsigned = JSON.stringify({ generate: { sampling: { policy: { topK: -200 } } } });
  expect(parseMessageLine(TokenEndpointCommand, unsigned)).toMatchObject({ kind: 'malformed' });
});

test('a list is checked item by item', () => {
  const text = '{"fault":{"reason":"STAGE_FAULT_REASON_INTERNAL","logTail":["a",1]}}';
  expect(parseMessageLine(WorkerEvent, text)).toMatchObject({
    problem: expect.stringContaining('1 at "fault.logTail[1]"'),
  });
});
