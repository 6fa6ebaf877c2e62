import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { TokenEndpointCommand, TokenEndpointEvent } from '../../gen/stageplane/v1/token_endpoint.js';
import { WorkerCommand, WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { prepareCommand } from '../worker/prepare-command.js';

type Words<T extends { toJSON(message: never): unknown }> = Parameters<T['toJSON']>[0];

const footprint = { bytesRead: 10n, bytesDigest: 'ab', deviceBytes: 20n, hostBytes: 30n };
const reason = StageFaultReason.STAGE_FAULT_REASON_MODEL_MISMATCH;
const prepare = prepareCommand({ modelPath: 'm.gguf', totalLayers: 2, hiddenDim: 4 });
const done = { requestId: '1', reason: 1, message: 'm', promptTokens: 1, generatedTokens: 2 };

const workerCommands = [
  WorkerCommand.fromPartial({ command: { $case: 'prepare', value: prepare } }),
  WorkerCommand.fromPartial({ command: { $case: 'checkHealth', value: { sequence: 4n } } }),
  WorkerCommand.fromPartial({ command: { $case: 'stop', value: { reason: 'enough' } } }),
];
const workerEvents = [
  WorkerEvent.fromPartial({ event: { $case: 'hello', value: { protocol: 1, engines: ['fixture'] } } }),
  WorkerEvent.fromPartial({ event: { $case: 'loading', value: { phase: 1, bytesDone: 1n, bytesTotal: 2n } } }),
  WorkerEvent.fromPartial({ event: { $case: 'ready', value: footprint } }),
  WorkerEvent.fromPartial({
    event: { $case: 'health', value: { sequence: 1n, busyMillis: 7n, usage: { heldSessions: 2 } } },
  }),
  WorkerEvent.fromPartial({ event: { $case: 'fault', value: { reason, message: 'm', logTail: ['a', 'b'] } } }),
  WorkerEvent.fromPartial({ event: { $case: 'stopped', value: {} } }),
];
const endpointCommands = [
  TokenEndpointCommand.fromPartial({
    command: {
      $case: 'open',
      value: { runId: 7n, generation: 1, modelPath: 'm.gguf', settings: { contextLength: 8 } },
    },
  }),
  TokenEndpointCommand.fromPartial({ command: { $case: 'generate', value: { requestId: '1', maxTokens: 3 } } }),
  TokenEndpointCommand.fromPartial({ command: { $case: 'acknowledge', value: { requestId: '1', tokens: 3 } } }),
  TokenEndpointCommand.fromPartial({ command: { $case: 'cancel', value: { requestId: '1', reason: 'r' } } }),
  TokenEndpointCommand.fromPartial({ command: { $case: 'endConversation', value: { conversation: 'c' } } }),
  TokenEndpointCommand.fromPartial({ command: { $case: 'close', value: { reason: 'enough' } } }),
];
const endpointEvents = [
  TokenEndpointEvent.fromPartial({ event: { $case: 'hello', value: { protocol: 1, tokenizers: [1, 2] } } }),
  TokenEndpointEvent.fromPartial({ event: { $case: 'ready', value: { tokenizer: 1 } } }),
  TokenEndpointEvent.fromPartial({ event: { $case: 'delta', value: { requestId: '1', text: 'é' } } }),
  TokenEndpointEvent.fromPartial({ event: { $case: 'done', value: done } }),
  TokenEndpointEvent.fromPartial({ event: { $case: 'refused', value: { requestId: '1', reason: 1, message: 'm' } } }),
  TokenEndpointEvent.fromPartial({ event: { $case: 'fault', value: { reason, message: 'm', edgeId: 2n } } }),
  TokenEndpointEvent.fromPartial({ event: { $case: 'health', value: { sequence: 1n, runningAnswers: 1 } } }),
];

const linesOf = <T extends { toJSON(message: never): unknown }>(codec: T, messages: readonly Words<T>[]) =>
  messages.map((message) => JSON.stringify(codec.toJSON(message as never)));

/** What honest processes say to each other, one kind of line each. */
export const honestLines = {
  workerCommands: linesOf(WorkerCommand, workerCommands),
  workerEvents: linesOf(WorkerEvent, workerEvents),
  endpointCommands: linesOf(TokenEndpointCommand, endpointCommands),
  endpointEvents: linesOf(TokenEndpointEvent, endpointEvents),
};
