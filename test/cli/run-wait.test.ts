import type { ServerWritableStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import {
  CreateRunResponse,
  StopRunResponse,
  type WatchRunRequest,
  type WatchRunResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase, StagePhase } from '../../gen/stageplane/v1/run.js';
import { Child, stageplane } from './child.js';
import { FakeOrchestrator, type Script } from './fake-orchestrator.js';
import { loadUpdate, phaseUpdate, sampleCause, sampleRun, stageUpdate } from './sample.js';

type Stream = ServerWritableStream<WatchRunRequest, WatchRunResponse>;

const created = () => CreateRunResponse.fromPartial({ outcome: { $case: 'run', value: sampleRun } });
const running = phaseUpdate(12n, RunPhase.RUN_PHASE_RUNNING);
const stopped = [
  phaseUpdate(20n, RunPhase.RUN_PHASE_TEARING_DOWN, RunOutcome.RUN_OUTCOME_STOPPED),
  phaseUpdate(21n, RunPhase.RUN_PHASE_DONE, RunOutcome.RUN_OUTCOME_STOPPED),
];
const faulted = [
  phaseUpdate(20n, RunPhase.RUN_PHASE_TEARING_DOWN, RunOutcome.RUN_OUTCOME_FAULTED, sampleCause),
  phaseUpdate(21n, RunPhase.RUN_PHASE_DONE, RunOutcome.RUN_OUTCOME_FAULTED),
];

let fake: FakeOrchestrator;
afterEach(() => fake.stop());

async function serve(script: Script): Promise<void> {
  fake = await new FakeOrchestrator({ createRun: created, ...script }).start();
}

function send(stream: Stream, ...updates: readonly WatchRunResponse[]): void {
  for (const update of updates) stream.write(update);
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const waiting = (...flags: string[]) => ['run', 'm.gguf', ...flags, '--orchestrator', fake.address];

describe('run --wait', () => {
  it('shows plain lines when nobody looks, and ends with 4 when the run is FAULTED', async () => {
    await serve({
      watchRun: (_request, stream) => {
        const loading = [0n, 100n, 300n, 1024n].map((done) => loadUpdate(0, done, 1024n));
        send(stream, stageUpdate(11n, 0, StagePhase.STAGE_PHASE_LOADING), ...loading, running, ...faulted);
        stream.end();
      },
    });
    const { code, stdout, stderr } = await stageplane(waiting('--wait'));
    expect(code).toBe(4);
    expect(stdout.split('\n')).toEqual([
      'run 7',
      '          run 7  fidelity same-kernels',
      '03:04:05  run 7  stage 0 on alpha  LOADING',
      '          run 7  stage 0 on alpha  loaded 0 B of 1.0 KiB',
      '          run 7  stage 0 on alpha  loaded 300 B of 1.0 KiB',
      '          run 7  stage 0 on alpha  loaded 1.0 KiB of 1.0 KiB',
      '03:04:05  run 7  RUNNING',
      '03:04:05  run 7  TEARING_DOWN  FAULTED  stage 1 on beta, worker: WORKER_EXITED: the worker ended by itself with code 9',
      '03:04:05  run 7  DONE  FAULTED',
      '',
    ]);
    expect(stderr.split('\n')).toEqual([
      'stageplane: run 7 ended FAULTED: stage 1 on beta, worker: WORKER_EXITED: the worker ended by itself with code 9',
      '  loading',
      '  killed',
      '',
    ]);
    // Everything up to the revision of the answer was in the answer.
    expect(fake.requestsOf('watchRun')).toEqual([{ runId: 7n, afterRevision: 10n }]);
  });

  it('is one JSON object per line with --json', async () => {
    await serve({
      watchRun: (_request, stream) => {
        send(stream, running, ...faulted);
        stream.end();
      },
    });
    const { code, stdout, stderr } = await stageplane(waiting('--wait', '--json'));
    expect(code).toBe(4);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.run?.runId ?? line.event.revision)).toEqual(['7', '12', '20', '21']);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'ABORTED', reason: 'WORKER_EXITED' });
  });

  it('--until ready ends with 0 once the run is RUNNING', async () => {
    await serve({ watchRun: (_request, stream) => send(stream, running) });
    const { code, stdout } = await stageplane(waiting('--until', 'ready'));
    expect([code, stdout]).toEqual([
      0,
      'run 7\n          run 7  fidelity same-kernels\n03:04:05  run 7  RUNNING\nrun 7 is RUNNING\n',
    ]);
  });

  it('--until ready fails when the run was stopped before', async () => {
    await serve({ watchRun: (_request, stream) => send(stream, ...stopped) });
    const { code, stderr } = await stageplane(waiting('--until', 'ready'));
    expect([code, stderr]).toEqual([1, 'stageplane: run 7 ended STOPPED before it was ready\n']);
  });

  it('is over at once when the request had been made before and its run is DONE', async () => {
    const done = { ...sampleRun, phase: RunPhase.RUN_PHASE_DONE, outcome: RunOutcome.RUN_OUTCOME_COMPLETED };
    await serve({ createRun: () => CreateRunResponse.fromPartial({ outcome: { $case: 'run', value: done } }) });
    expect(await stageplane(waiting('--wait'))).toMatchObject({ code: 0, stdout: 'run 7\nrun 7 ended COMPLETED\n' });
  });

  it('resumes a broken watch from the last revision', async () => {
    let watches = 0;
    await serve({
      watchRun: (_request, stream) => {
        watches += 1;
        if (watches > 1) return send(stream, ...stopped);
        send(stream, running);
      },
    });
    const child = new Child(waiting('--wait'));
    await child.shown('stdout', 'RUNNING');
    fake.stop();
    await child.shown('stderr', 'broke off');
    await fake.start();
    const { code, stdout, stderr } = await child.end();
    expect(code).toBe(0);
    expect(stderr).toBe('stageplane: the watch broke off; resuming it from the last revision seen\n');
    expect(stdout.match(/RUNNING/g)).toHaveLength(1);
    expect(stdout).toMatch(/run 7 ended STOPPED\n$/);
    expect(fake.requestsOf('watchRun').at(-1)).toEqual({ runId: 7n, afterRevision: 12n });
  });
});

describe('Ctrl-C', () => {
  it('stops the run and stays until it is DONE', async () => {
    let watch: Stream | undefined;
    await serve({
      watchRun: (_request, stream) => {
        watch = stream;
        send(stream, running);
      },
      stopRun: () => {
        send(watch!, ...stopped);
        return StopRunResponse.fromPartial({ run: sampleRun });
      },
    });
    const child = new Child(waiting('--wait'));
    await child.shown('stdout', 'RUNNING');
    child.interrupt();
    const { code, stdout, stderr } = await child.end();
    expect(code).toBe(130);
    expect(fake.requestsOf('stopRun')).toEqual([{ runId: 7n }]);
    expect(stdout).toMatch(/run 7 ended STOPPED\n$/);
    expect(stderr).toBe('stageplane: stopping run 7; press Ctrl-C again to leave it alone\n');
  });

  it('pressed again leaves the run alone', async () => {
    await serve({
      watchRun: (_request, stream) => send(stream, running),
      stopRun: () => new Promise(() => {}),
    });
    const child = new Child(waiting('--wait'));
    await child.shown('stdout', 'RUNNING');
    child.interrupt();
    await child.shown('stderr', 'stopping run 7');
    child.interrupt();
    const { code, stderr } = await child.end();
    expect(code).toBe(130);
    expect(stderr).toContain('left run 7 alone; look at it with `stageplane runs watch 7`\n');
  });

  it('pressed while the run is being made stops it as soon as it is there', async () => {
    const asked = deferred<void>();
    const answer = deferred<CreateRunResponse>();
    const stopping = deferred<void>();
    await serve({
      createRun: () => {
        asked.resolve();
        return answer.promise;
      },
      watchRun: async (_request, stream) => {
        await stopping.promise;
        send(stream, ...stopped);
      },
      stopRun: () => {
        stopping.resolve();
        return StopRunResponse.fromPartial({ run: sampleRun });
      },
    });
    const child = new Child(waiting('--wait'));
    await asked.promise;
    child.interrupt();
    answer.resolve(created());
    expect((await child.end()).code).toBe(130);
    expect(fake.requestsOf('stopRun')).toEqual([{ runId: 7n }]);
  });

  it('only leaves when one merely watches', async () => {
    await serve({
      getRun: () => ({ run: sampleRun }),
      watchRun: (_request, stream) => send(stream, running),
    });
    const child = new Child(['runs', 'watch', '7', '--orchestrator', fake.address]);
    await child.shown('stdout', 'RUNNING');
    child.interrupt();
    expect(await child.end()).toMatchObject({ code: 130, stderr: '' });
    expect(fake.requestsOf('stopRun')).toEqual([]);
    expect(fake.requestsOf('watchRun')).toEqual([{ runId: 7n, afterRevision: 0n }]);
  });
});

it('never writes an escape sequence when stdout is no terminal', async () => {
  await serve({
    watchRun: (_request, stream) => {
      send(stream, running, ...faulted);
      stream.end();
    },
  });
  const { stdout, stderr } = await stageplane(waiting('--wait'), { FORCE_COLOR: '1', TERM: 'xterm-256color' });
  expect(stdout + stderr).not.toContain('\u001b');
});

it('ends quietly when its reader has gone', async () => {
  let child: Child | undefined;
  await serve({
    listRuns: async () => {
      child!.process.stdout!.destroy();
      return { runs: [], nextPageToken: '' };
    },
  });
  child = new Child(['runs', 'list', '--orchestrator', fake.address]);
  expect(await child.end()).toEqual({ code: 0, stdout: '', stderr: '' });
});
