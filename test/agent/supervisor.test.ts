import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { StageLogs } from '../../src/agent/stage-logs.js';
import { Supervisor } from '../../src/agent/supervisor.js';
import { WorkerProcess } from '../../src/agent/worker-process.js';
import { defaultWorkerTimings, type WorkerTimings } from '../../src/agent/worker-timings.js';
import { runId } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import type { AgentEvent } from '../../src/core/machine/agent/events.js';
import { stageName } from '../../src/core/machine/agent/state.js';
import { isAlive } from '../../src/process/descendants.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { openBeacon } from './beacon.js';
import { Mailbox } from './mailbox.js';

const key = { runId: runId(7n), stageIndex: 0, generation: 2 };
const isLinux = process.platform === 'linux';
const oddWorker = fileURLToPath(new URL('fixtures/odd-worker.mjs', import.meta.url));

interface Options {
  readonly timings?: Partial<WorkerTimings>;
  readonly command?: readonly string[];
  readonly logBytes?: number;
  readonly logs?: StageLogs;
}

/** A supervisor with one worker of one habit, which is given its stage as soon as it says hello. */
function supervise(habit: string, { timings, command, logBytes, logs }: Options = {}) {
  const events = new Mailbox<AgentEvent>();
  const folder = temporaryFolder();
  const allTimings = { ...defaultWorkerTimings, ...timings };
  const supervisor = new Supervisor({
    takeWorker: () =>
      new WorkerProcess({
        command: command ?? [process.execPath, oddWorker, habit],
        timings: allTimings,
        onLogError: () => {},
      }),
    logs: logs ?? new StageLogs(folder, logBytes),
    tell: (event) => {
      if (event.kind === 'worker-greeted') {
        const value = PrepareStage.fromPartial({ modelPath: '/models/m.gguf', generation: 2 });
        supervisor.command(key, { command: { $case: 'prepare', value } });
      }
      events.put(event);
    },
    logger: pino({ level: 'silent' }),
  });
  supervisor.start(key);
  onTestFinished(async () => {
    supervisor.kill(key);
    await exited(events);
  });
  return { supervisor, events, folder };
}

type Kind = AgentEvent['kind'];
function first<K extends Kind>(events: Mailbox<AgentEvent>, kind: K) {
  return events.find((event): event is Extract<AgentEvent, { kind: K }> => event.kind === kind);
}
const exited = (events: Mailbox<AgentEvent>) => first(events, 'worker-exited');

describe('a worker', () => {
  it('that does its work is heard in order, and is stopped by the command', async () => {
    const { supervisor, events } = supervise('good');
    await first(events, 'worker-ready');
    supervisor.stop(key, 'enough');
    expect((await exited(events)).exit).toEqual({ code: 0, signal: null, wasKilled: false });
    expect(events.all.map(({ kind }) => kind)).toEqual([
      'worker-greeted',
      'worker-loading',
      'worker-ready',
      'worker-exited',
    ]);
    expect(supervisor.pids().size).toBe(0);
  });

  it('that exits at once is told of with its code and its last words', async () => {
    const { events } = supervise('exits');
    expect(await exited(events)).toMatchObject({
      exit: { code: 3, signal: null },
      logTail: ['cannot find my library'],
    });
  });

  it('that is ended by a signal is told of with its name', async () => {
    const { events } = supervise('dies');
    expect((await exited(events)).exit).toEqual({ code: null, signal: 'SIGKILL', wasKilled: false });
  });

  it('that never says hello is ended', async () => {
    const { events } = supervise('hangs', { timings: { hello: 50 } });
    expect((await first(events, 'worker-failed')).failure).toEqual({ kind: 'hello-missing', waited: 50 });
    expect((await exited(events)).exit.signal).toBe('SIGKILL');
  });

  it.each([
    ['rubbish', 'is not JSON: "loading weights..."'],
    ['long-line', `is longer than ${limits.workerLineBytes} bytes`],
  ])('that writes %s to stdout is ended', async (habit, problem) => {
    const { events } = supervise(habit);
    expect((await first(events, 'worker-failed')).failure).toEqual({ kind: 'line-broken', problem });
    expect((await exited(events)).exit.signal).toBe('SIGKILL');
  });

  it('whose program is missing is told of, and counts as reaped', async () => {
    const { events } = supervise('', { command: ['/nowhere/worker', '--fast'] });
    const { failure } = await first(events, 'worker-failed');
    expect(failure).toMatchObject({ kind: 'start-failed', command: '/nowhere/worker --fast' });
    expect((await exited(events)).exit).toEqual({ code: null, signal: null, wasKilled: true });
  });

  it('whose command no system can start is told of likewise', async () => {
    const { events } = supervise('', { command: [process.execPath, 'a\0b'] });
    expect((await first(events, 'worker-failed')).failure.kind).toBe('start-failed');
    await exited(events);
  });

  it('is never started through a shell', async () => {
    const { events } = supervise('', {
      command: [process.execPath, '-e', 'process.exit(process.argv.length)', '; exit 9'],
    });
    expect((await exited(events)).exit.code).toBe(2);
  });

  it.each(['stubborn', 'immortal'])(
    'that is %s and ignores the stop is killed at the end of the grace',
    async (habit) => {
      const { supervisor, events } = supervise(habit, { timings: { stopGrace: 50 } });
      await first(events, 'worker-ready');
      supervisor.stop(key, 'enough');
      expect((await exited(events)).exit.signal).toBe('SIGKILL');
    },
  );

  it('that does not answer a health check is ended', async () => {
    const { events } = supervise('deaf', { timings: { healthEvery: 20, healthPatience: 40 } });
    expect((await first(events, 'worker-failed')).failure).toEqual({ kind: 'silent', waited: 40 });
    await exited(events);
  });

  it('that answers is told of with how busy it is', async () => {
    const { events } = supervise('good', { timings: { healthEvery: 10 } });
    expect((await first(events, 'worker-healthy')).busyMillis).toBe(7n);
  });

  it('that counts what its stage holds is given with the bytes that were measured of it, until it is reaped', async () => {
    const { supervisor, events } = supervise('counts', { timings: { healthEvery: 10 } });
    expect(supervisor.usage(new Map([[stageName(key), 5n]]))).toEqual([]);
    await first(events, 'worker-healthy');
    const held = { ...key, usage: { heldSessions: 2, heldTokens: 30n } };
    expect(supervisor.usage(new Map([[stageName(key), 5n]]))).toEqual([{ ...held, residentBytes: 5n }]);
    expect(supervisor.usage(new Map())).toEqual([{ ...held, residentBytes: 0n }]);
    supervisor.stop(key, 'enough');
    await exited(events);
    expect(supervisor.usage(new Map())).toEqual([]);
  });

  it('says its fault with the end of its log', async () => {
    const { events } = supervise('faults');
    const { fault } = await first(events, 'worker-faulted');
    expect(fault).toMatchObject({ message: 'odd tensor', logTail: ['tensor blk.0 is odd'] });
  });

  it('takes what it has started along when it ends', async () => {
    const beacon = await openBeacon();
    vi.stubEnv('STAGEPLANE_WORKER_BEACON', String(beacon.port));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { supervisor, events } = supervise('breeds');
    await beacon.signs.find((sign) => sign === 'up grandchild');
    supervisor.stop(key, 'enough');
    await exited(events);
    await beacon.signs.find((sign) => sign === 'down grandchild');
  });

  it.runIf(isLinux)('takes along what has left its group, and says so in its log', async () => {
    const beacon = await openBeacon();
    vi.stubEnv('STAGEPLANE_WORKER_BEACON', String(beacon.port));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { supervisor, events, folder } = supervise('escapes');
    await beacon.signs.find((sign) => sign === 'up fugitive');
    await first(events, 'worker-ready');
    supervisor.stop(key, 'enough');
    const { logTail } = await exited(events);
    const [, pid] = /^the agent ended process (\d+), which this worker had left behind: .*fugitive/.exec(
      logTail.at(-1)!,
    )!;
    // Its end was waited for.
    expect(isAlive(Number(pid))).toBe(false);
    expect(readFileSync(join(folder, 'run-7-stage-0-g2.log'), 'utf8')).toContain(logTail.at(-1));
  });

  it.runIf(isLinux)('is what the kernel ends before the agent when memory runs out', async () => {
    const { supervisor, events } = supervise('tells-limits');
    await first(events, 'worker-ready');
    supervisor.stop(key, 'enough');
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
    expect((await exited(events)).logTail.at(-1)).toBe(`score ${Math.min(own + limits.workerOomScore, 1000)}`);
  });

  it('sees only what it needs of the environment', async () => {
    vi.stubEnv('SECRET_TOKEN', 'hush');
    vi.stubEnv('STAGEPLANE_WORKER_HINT', 'heard');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { supervisor, events, folder } = supervise('tells-environment');
    await first(events, 'worker-ready');
    supervisor.stop(key, 'enough');
    await exited(events);
    const environment = readFileSync(join(folder, 'run-7-stage-0-g2.log'), 'utf8');
    expect(environment).toContain('heard');
    expect(environment).not.toContain('hush');
  });
});

describe('a log', () => {
  it('of a worker that floods stderr keeps its size, with one older file', async () => {
    const logBytes = 100_000;
    const { supervisor, events, folder } = supervise('floods', { logBytes });
    await first(events, 'worker-ready');
    supervisor.stop(key, 'enough');
    const { logTail } = await exited(events);
    const file = join(folder, 'run-7-stage-0-g2.log');
    expect(statSync(file).size).toBeLessThanOrEqual(logBytes);
    expect(statSync(`${file}.1`).size).toBe(logBytes);
    expect(logTail).toHaveLength(limits.logTailLines);
    expect(logTail.at(-2)).toMatch(/^line 39999 y/);
    expect(supervisor.log(key, 1000)).toHaveLength(1000);
    expect(supervisor.log(key, 3)).toEqual(logTail.slice(-3));
  });

  it('that nobody has written is empty', async () => {
    const { supervisor } = supervise('hangs');
    expect(supervisor.log({ ...key, generation: 9 }, 10)).toEqual([]);
  });

  it('that cannot be written does not keep a stage from starting', async () => {
    const folder = join(temporaryFolder(), 'logs');
    writeFileSync(folder, 'a file, where a folder was');
    const logs = new StageLogs(folder);
    const { events } = supervise('good', { logs });
    await first(events, 'worker-ready');
  });

  it('makes room for itself: the oldest go, but never one that is in use', () => {
    const folder = temporaryFolder();
    const logs = new StageLogs(folder);
    const keyOf = (run: number) => ({ runId: runId(BigInt(run)), stageIndex: 0, generation: 1 });
    for (let run = 0; run < limits.stageLogs; run += 1) writeAt(join(folder, `run-${run}-stage-0-g1.log`), run);
    logs.create(keyOf(9999), new Set(['run-0-stage-0-g1']));
    expect(logs.read(keyOf(0), 10)).toBeDefined();
    expect(logs.read(keyOf(1), 10)).toBeUndefined();
    expect(logs.read(keyOf(2), 10)).toBeDefined();
  });
});

function writeAt(path: string, seconds: number): void {
  writeFileSync(path, 'x\n');
  utimesSync(path, seconds, seconds);
}
