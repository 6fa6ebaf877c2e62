import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { WorkerPool } from '../../src/agent/worker-pool.js';
import { WorkerProcess } from '../../src/agent/worker-process.js';
import { defaultWorkerTimings } from '../../src/agent/worker-timings.js';
import { oddWorker } from './start-agent.js';

function poolOf(habit: string, warm: number, timings = defaultWorkerTimings) {
  const started: WorkerProcess[] = [];
  const pool = new WorkerPool({
    start: () => {
      const worker = new WorkerProcess({ command: oddWorker(habit), timings, onLogError: () => {} });
      started.push(worker);
      return worker;
    },
    warm,
    logger: pino({ level: 'silent' }),
  });
  onTestFinished(async () => {
    for (const worker of started) worker.kill();
    await pool.close();
  });
  return { pool, started };
}

it('hands out a worker that is there already, each once', () => {
  const { pool, started } = poolOf('good', 2);
  pool.fill();
  expect(started).toHaveLength(2);
  expect(pool.take()).toBe(started[0]);
  expect(pool.take()).toBe(started[1]);
  expect(pool.take()).toBe(started[2]);
  expect(pool.idle).toBe(0);
});

it('never hands out one that has ended, and does not start its successor over and over', async () => {
  const { pool, started } = poolOf('exits', 1);
  pool.fill();
  await started[0]?.reaped;
  expect(pool.idle).toBe(0);
  expect(started).toHaveLength(1);
  expect(pool.take()).toBe(started[1]);
});

it('never hands out one that has broken its word and is about to end', async () => {
  const { pool, started } = poolOf('hangs', 1, { ...defaultWorkerTimings, hello: 20 });
  pool.fill();
  const nothing = () => {};
  const others = {
    greeted: nothing,
    loading: nothing,
    ready: nothing,
    faulted: nothing,
    healthy: nothing,
    exited: nothing,
  };
  const taken = new Promise((resolve) => started[0]?.listen({ ...others, failed: () => resolve(pool.take()) }));
  expect(await taken).toBe(started[1]);
});

it('leaves no idle worker behind when it closes (I18)', async () => {
  const { pool, started } = poolOf('good', 2);
  pool.fill();
  await pool.close();
  for (const worker of started) expect(worker.isUsable).toBe(false);
  pool.fill();
  expect(started).toHaveLength(2);
});
