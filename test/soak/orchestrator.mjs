import { readdirSync } from 'node:fs';
import pino from 'pino';
import { TextDone, TextDoneReason } from '../../dist/gen/stageplane/v1/token_endpoint.js';
import { startOrchestrator } from '../../dist/src/orchestrator/orchestrator.js';

/**
 * The real orchestrator in a process of its own, so that what it holds can be told from what its clients do. Its token
 * endpoints are stand-ins: ready at once, and every prompt is answered.
 */
const { dataFolder, timings } = JSON.parse(process.argv[2]);

const answerMillis = 100;
const answer = {
  text: 'Once',
  tokenIds: [1],
  done: TextDone.create({ reason: TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS }),
};

const tokenEndpoints = (post) => ({
  open: ({ runId, generation }) => post({ kind: 'token-endpoint-ready', runId, generation }),
  close: () => {},
  beginAnswer: (runId, generation) =>
    setTimeout(() => post({ kind: 'answer-ended', runId, generation, answer }), answerMillis),
  awaitQuiet: (runId, generation) =>
    setTimeout(() => post({ kind: 'token-endpoint-quiet', runId, generation }), answerMillis),
  find: () => undefined,
  stop: async () => {},
});

const orchestrator = await startOrchestrator({
  listen: '127.0.0.1:0',
  dataFolder,
  models: [],
  insecure: false,
  timings,
  tokenEndpoints,
  logger: pino({ level: process.env.TEST_LOG ?? 'fatal' }),
});
process.send({ kind: 'listening', address: orchestrator.address });

process.on('message', () => {
  // Twice: the first makes the second find what finalizers have freed.
  globalThis.gc();
  globalThis.gc();
  process.send({
    kind: 'measured',
    heapBytes: process.memoryUsage().heapUsed,
    files: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
  });
});
process.on('disconnect', () => orchestrator.stop());
