import { expect, it, onTestFinished } from 'vitest';
import { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import { defaultTimings } from '../../src/core/machine/timings.js';
import { dial } from '../../src/grpc/client.js';
import { listNodes } from '../../src/launcher/list-all.js';
import { Random } from '../sim/random.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Daemon, type Measurement } from './daemon.js';
import { Diary } from './diary.js';
import { Workload } from './workload.js';

const AGENTS = 200;
const seconds = Number(process.env.SOAK_SECONDS ?? 60);
const seed = process.env.SOAK_SEED ?? String(Date.now());
const MIB = 1024 ** 2;

/** Short enough that graces and leases end in every soak, long enough for a machine that is busy. */
const timings = { ...defaultTimings, heartbeat: 2000, grace: 3000, graceAfterStart: 3000, lease: 12_000 };

it(
  `${AGENTS} agents come, run, fault, are drained and go for ${seconds} s: nothing lost, doubled or kept (I3, I17, I18)`,
  async () => {
    const daemon = await Daemon.start(temporaryFolder(), timings);
    onTestFinished(() => daemon.stop());
    const client = dial(daemon.address, OrchestratorServiceClient);
    onTestFinished(() => client.close());
    const diary = new Diary();
    const workload = new Workload(client, daemon.address, diary, new Random(seed), AGENTS);
    const everybody = async () => (await listNodes(client)).length;
    await expect.poll(everybody, { timeout: 60_000 }).toBe(AGENTS);

    const measured: Measurement[] = [];
    const end = Date.now() + seconds * 1000;
    for (let next = 0; Date.now() < end; ) {
      await workload.tick();
      if (Date.now() < next) continue;
      measured.push(await daemon.measure());
      next = Date.now() + (seconds * 1000) / 30;
    }
    await workload.settle();
    await expect.poll(() => diary.live, { timeout: 30_000 }).toEqual([]);
    measured.push(await daemon.measure());

    report(workload, measured);
    expect({ seed, problems: [...workload.problems, ...diary.problems] }).toEqual({ seed, problems: [] });
    const [, middle, last] = thirds(measured);
    expect(median(last, 'heapBytes')).toBeLessThan(median(middle, 'heapBytes') * 1.1 + 4 * MIB);
    expect(median(last, 'files')).toBeLessThan(median(middle, 'files') + AGENTS / 4);
    for (const what of ['create run', 'run began again', 'node drained', 'agent killed', 'agent left', 'stream broken'])
      expect(workload.counts.get(what) ?? 0, what).toBeGreaterThan(0);
    for (const outcome of ['COMPLETED', 'FAULTED', 'STOPPED'])
      expect(workload.counts.get(`run RUN_OUTCOME_${outcome}`) ?? 0, outcome).toBeGreaterThan(0);
  },
  (seconds + 180) * 1000,
);

function report({ counts }: Workload, measured: readonly Measurement[]): void {
  const line = (which: readonly Measurement[]) =>
    `${(median(which, 'heapBytes') / MIB).toFixed(1)} MiB, ${median(which, 'files')} files`;
  const said = [...counts].sort().map(([what, count]) => `${what} ${count}`);
  console.info(`soak of ${seconds} s, seed ${seed}: ${said.join(' · ')}`);
  const [first, middle, last] = thirds(measured).map(line);
  console.info(`heap and files: ${first}; then ${middle}; then ${last}; when all is over ${line(measured.slice(-1))}`);
}

/** Those of the work; the one after it is left out. The first third warms up. */
function thirds(measured: readonly Measurement[]): [Measurement[], Measurement[], Measurement[]] {
  const size = Math.floor((measured.length - 1) / 3);
  return [measured.slice(0, size), measured.slice(size, 2 * size), measured.slice(2 * size, 3 * size)];
}

function median(measured: readonly Measurement[], what: keyof Measurement): number {
  return measured.map((one) => one[what]).sort((a, b) => a - b)[measured.length >> 1] ?? 0;
}
