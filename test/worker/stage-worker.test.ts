import { expect, test } from 'vitest';
import { LoadProgress_Phase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { limits } from '../../src/core/limits.js';
import type { EngineListener } from '../../src/worker/engine-host.js';
import { workerFault } from '../../src/worker/stage-fault.js';
import { StageWorker } from '../../src/worker/stage-worker.js';
import { prepareCommand } from './prepare-command.js';
import { commandLine } from './worker-process.js';

function loadingWorker() {
  const said: NonNullable<WorkerEvent['event']>[] = [];
  const logged: object[] = [];
  const clock = { millis: 0, stepMillis: 0 };
  let engine: EngineListener | undefined;
  let engineStops = 0;
  const log = (fields: object) => logged.push(fields);
  const worker = new StageWorker({
    say: (event) => said.push(event),
    log: { info: log, warn: log, error: log },
    now: () => clock.millis,
    startEngine: (_, listener) => {
      engine = listener;
      return {
        stepMillis: () => clock.stepMillis,
        usage: () => ({ heldSessions: 2, heldTokens: 96n }),
        stop: async () => {
          engineStops += 1;
        },
      };
    },
    stop: () => {},
  });
  const prepare = prepareCommand({ modelPath: 'm.gguf', totalLayers: 2, hiddenDim: 4 });
  worker.receive({ kind: 'line', text: commandLine({ $case: 'prepare', value: prepare }) });
  return { worker, said, logged, clock, engine: engine!, engineStops: () => engineStops };
}

const health = { kind: 'line', text: '{"checkHealth":{"sequence":"1"}}' } as const;
const footprint = { bytesRead: 1n, bytesDigest: '', deviceBytes: 1n, hostBytes: 1n };
const ready = { kind: 'ready', footprint } as const;

test('busy counts from the last sign of progress, and is 0 once the engine waits', () => {
  const { worker, said, clock, engine } = loadingWorker();
  clock.millis = 70;
  worker.receive(health);
  engine.onMessage({ kind: 'progress', bytesDone: 1, bytesTotal: 2 });
  clock.millis = 75;
  worker.receive(health);
  engine.onMessage(ready);
  worker.receive(health);
  clock.stepMillis = 12;
  worker.receive(health);
  const busy = said.flatMap((event) => (event.$case === 'health' ? [event.value.busyMillis] : []));
  expect(busy).toEqual([70n, 5n, 0n, 12n]);
});

test('a stage that is over holds nothing', () => {
  const { worker, said, engine } = loadingWorker();
  engine.onEnd(new Error('terminated'));
  worker.receive(health);
  expect(said.at(-1)).toMatchObject({ $case: 'health', value: { usage: { heldSessions: 0, heldTokens: 0n } } });
});

test('a loaded stage that waits for its neighbours says so, and is not busy', () => {
  const { worker, said, clock, engine } = loadingWorker();
  clock.millis = 70;
  engine.onMessage({ kind: 'waiting-edges', footprint });
  worker.receive(health);
  expect(said).toEqual([
    {
      $case: 'loading',
      value: { phase: LoadProgress_Phase.PHASE_WAITING_EDGES, bytesDone: 1n, bytesTotal: 1n },
    },
    { $case: 'health', value: { sequence: 1n, busyMillis: 0n, usage: { heldSessions: 2, heldTokens: 96n } } },
  ]);
});

test('a ready stage whose edge breaks is a fault', () => {
  const { said, engine } = loadingWorker();
  engine.onMessage(ready);
  const reason = StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED;
  engine.onMessage({ kind: 'faulted', fault: { reason, message: 'closed' } });
  expect(said.at(-1)).toMatchObject({ $case: 'fault', value: { reason } });
});

test('an exception in the engine thread is an INTERNAL fault whose incident is in the log', () => {
  const { said, logged, engine } = loadingWorker();
  engine.onEnd(new TypeError('undefined is not a function'));
  expect(said).toHaveLength(1);
  const [fault] = said;
  expect(fault).toMatchObject({ $case: 'fault', value: { reason: StageFaultReason.STAGE_FAULT_REASON_INTERNAL } });
  const { incident } = logged.find((fields): fields is { incident: string } => 'incident' in fields)!;
  expect(fault).toMatchObject({ value: { message: expect.stringContaining(incident) } });
});

test('an engine thread without memory is OUT_OF_MEMORY', () => {
  const { said, engine } = loadingWorker();
  engine.onEnd(Object.assign(new Error('limit'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
  expect(said).toMatchObject([{ value: { reason: StageFaultReason.STAGE_FAULT_REASON_OUT_OF_MEMORY } }]);
});

test('there is one fault in the life of a worker, and nothing of the engine after it', () => {
  const { worker, said, engine, engineStops } = loadingWorker();
  worker.receive({ kind: 'line', text: 'rubbish' });
  worker.receive({ kind: 'too-long' });
  engine.onMessage({ kind: 'progress', bytesDone: 1, bytesTotal: 2 });
  engine.onMessage(ready);
  engine.onEnd(new Error('terminated'));
  expect(said.map(({ $case }) => $case)).toEqual(['fault']);
  expect(engineStops()).toBe(1);
});

test('a fault sentence is cut to its bound, at a whole character', () => {
  const { message } = workerFault(
    StageFaultReason.STAGE_FAULT_REASON_LOAD_FAILED,
    'ü'.repeat(limits.faultMessageBytes),
  );
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(limits.faultMessageBytes);
  expect(message).toMatch(/^ü+\.\.\.$/);
});
