import { pino } from 'pino';
import { WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { limits } from '../core/limits.js';
import { logOptions } from '../log-options.js';
import { EngineHost } from './engine-host.js';
import { LineSplitter } from './line-splitter.js';
import { defectFault } from './stage-fault.js';
import { StageWorker } from './stage-worker.js';

/** Exit code of a worker that was ended by SIGTERM: it was not asked over the protocol, so it says no `stopped`. */
const TERMINATED = 128 + 15;

/**
 * Connects a stage worker with its process: stdin, stdout, stderr, signals and the exit. Runs until the process ends.
 *
 * @param engineThread the module that runs the engine in its thread
 */
export function serveStage(engineThread: URL): void {
  const log = pino({ ...logOptions, base: { pid: process.pid } }, pino.destination({ dest: 2, sync: true }));
  const worker = new StageWorker({
    say,
    log,
    now: () => performance.now(),
    startEngine: (prepare, listener) => new EngineHost(engineThread, prepare, listener),
    stop: () => end(0, 'commanded', { $case: 'stopped', value: {} }),
  });
  let ending = false;

  async function end(code: number, why: string, lastWords?: WorkerEvent['event']): Promise<void> {
    if (ending) return;
    ending = true;
    log.info({ why }, 'worker ends');
    // An engine that is stuck in a native call cannot be ended from here, and an orphan is worse than a hard end (I18).
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), limits.workerEndMillis).unref();
    await worker.freeEngine();
    if (lastWords === undefined) process.exit(code);
    process.stdout.write(line(lastWords), () => process.exit(code));
  }

  const splitter = new LineSplitter();
  process.stdin.on('data', (chunk: Buffer) => {
    for (const received of splitter.push(chunk)) if (!ending) worker.receive(received);
  });
  // However the agent ended, the kernel closes its end of the pipe.
  process.stdin.on('end', endAtOnce);
  process.stdin.on('error', endAtOnce);
  process.on('SIGTERM', () => void end(TERMINATED, 'SIGTERM'));
  process.on('uncaughtException', (error) => {
    const fault = defectFault('the worker ended');
    log.fatal({ incident: fault.incident, err: error }, 'uncaught exception');
    worker.fault(fault);
    void end(1, 'defect');
  });
}

/** Nobody is left to tell. An exit would wait for threads, which a read of a dead disk may hold for ever (I18). */
function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

function say(event: NonNullable<WorkerEvent['event']>): void {
  process.stdout.write(line(event));
}

function line(event: NonNullable<WorkerEvent['event']>): string {
  return `${JSON.stringify(WorkerEvent.toJSON({ event }))}\n`;
}
