import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { unaryCall } from '../../src/grpc/client.js';
import { isAlive } from '../../src/process/descendants.js';
import { stageplane } from '../cli/child.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;

async function succeed(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await stageplane(words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

describe('a backup', () => {
  it('of a running orchestrator is put back over a later life: what it has goes on, what it has not is stopped', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true });
    const { client, folder } = cluster;
    const data = join(folder, 'orchestrator');
    const file = join(folder, 'backup');
    const kept = await cluster.create('kept', 2);
    await watchUntil(client, kept, RUN_PHASE_RUNNING);
    const workers = [await cluster.workerOf(kept, 0), await cluster.workerOf(kept, 1)];
    expect(await succeed('backup', file, '--data', data)).toMatch(/^backup of revision \d+ in /);

    // The life that will be lost: a run, a restart, another run, a node.
    const lost = [await cluster.create('lost', 2)];
    await watchUntil(client, lost[0]!, RUN_PHASE_RUNNING);
    await cluster.kill('orchestrator', 'SIGKILL');
    await cluster.startOrchestrator();
    cluster.startAgent('gamma');
    await nodesReady(client, 3);
    lost.push(await cluster.create('lost too', 3));
    await watchUntil(client, lost[1]!, RUN_PHASE_RUNNING);
    const stray = await Promise.all([0, 1, 2].map((stage) => cluster.workerOf(lost[1]!, stage)));
    const { epoch: lostEpoch, revision: lostRevision } = await serverInfo(data);

    // While it lives its folder is not touched, and neither is it without --force.
    expect((await stageplane(['restore', file, '--data', data, '--force'])).stderr).toContain('uses the data folder');
    await cluster.kill('orchestrator', 'SIGKILL');
    expect((await stageplane(['restore', file, '--data', data])).stderr).toContain('has a database already');
    const said = await succeed('restore', file, '--data', data, '--force');
    expect(said).toContain('start the orchestrator there\nkept of before: ');

    await cluster.startOrchestrator();
    const info = await serverInfo(data);
    expect(info.epoch).toBeGreaterThan(lostEpoch);
    expect(info.revision).toBeGreaterThan(lostRevision);
    // Before any agent is back to tell of them, the ids of what was lost are out of reach.
    await nodesReady(client, 3);
    const next = await cluster.create('next', 2);
    expect(next).toBeGreaterThan(lost[1]! + 1000n);
    expect(await cluster.create('kept', 2)).toBe(kept);
    await watchUntil(client, next, RUN_PHASE_RUNNING);

    // What the backup had goes on in the same workers; of what it had not, no worker is left.
    expect(await getRun(client, kept)).toMatchObject({ phase: RUN_PHASE_RUNNING, generation: 1 });
    expect([await cluster.workerOf(kept, 0), await cluster.workerOf(kept, 1)]).toEqual(workers);
    await expect.poll(() => stray.filter(isAlive), { timeout: 30_000 }).toEqual([]);
    for (const runId of lost) {
      await expect(unaryCall(client, Service.getRun, { runId })).rejects.toMatchObject({ codeName: 'NOT_FOUND' });
    }
    // A node that joined in the life that was lost is a new one, and no other node's id is its own.
    const { nodes } = await unaryCall(client, Service.listNodes, { pageSize: 0, pageToken: '' });
    expect(nodes.map(({ name }) => name).sort()).toEqual(['alpha', 'beta', 'gamma']);
    const gamma = nodes.find(({ name }) => name === 'gamma')!;
    expect(gamma.nodeId).toBeGreaterThan(1000n);
    expect(JSON.parse(readFileSync(join(folder, 'gamma', 'identity.json'), 'utf8')).nodeId).toBe(String(gamma.nodeId));

    for (const runId of [kept, next]) {
      await unaryCall(client, Service.stopRun, { runId });
      await watchUntil(client, runId, RUN_PHASE_DONE);
    }
    expect(await cluster.end()).toEqual([]);
  });

  it('can be put back twice, and the two lives have no epoch, run or revision in common', async () => {
    const cluster = await Cluster.start(['alpha'], { ownWorkers: true });
    const { client, folder } = cluster;
    const data = join(folder, 'orchestrator');
    const file = join(folder, 'backup');
    await succeed('backup', file, '--data', data);
    const lives: { epoch: bigint; run: bigint }[] = [];
    for (const name of ['first', 'second']) {
      await cluster.kill('orchestrator', 'SIGKILL');
      rmSync(data, { recursive: true });
      await succeed('restore', file, '--data', data);
      await cluster.startOrchestrator();
      await nodesReady(client, 1);
      const run = await cluster.create(name, 1);
      await watchUntil(client, run, RUN_PHASE_RUNNING);
      lives.push({ epoch: (await serverInfo(data)).epoch, run });
    }
    const [first, second] = lives;
    expect(first?.epoch).not.toBe(second?.epoch);
    expect(first?.run).not.toBe(second?.run);
    expect(await cluster.end()).toEqual([]);
  });
});

async function serverInfo(data: string): Promise<{ epoch: bigint; revision: bigint }> {
  const { epoch, revision } = JSON.parse(await succeed('server', 'info', '--json', '--data', data));
  return { epoch: BigInt(epoch), revision: BigInt(revision) };
}
