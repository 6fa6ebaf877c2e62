import { describe, expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { Child } from '../cli/child.js';
import { Cluster } from '../e2e/cluster.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;

describe('with real agents and workers, an orchestrator that kills itself', () => {
  // In the middle of joining, creating, acknowledging and becoming ready; every point is in every-fail-point.test.ts.
  it.each(['before-commit:4', 'after-send:8', 'before-answer:1'])(
    '%s, is taken up by the next one; each worker is started once and none is left',
    async (failPoint) => {
      const cluster = await Cluster.start(['alpha', 'beta']);
      await cluster.kill('orchestrator', 'SIGTERM');
      await cluster.startOrchestrator([], { STAGEPLANE_FAIL_POINT: failPoint });
      cluster.openGate();
      const died = cluster.gone('orchestrator');
      // Whoever asks goes on asking, over the death and the new start.
      const asking = created(cluster);
      expect(await died).toBe('SIGKILL');
      await cluster.startOrchestrator();
      const runId = await asking;
      await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
      for (const name of ['alpha', 'beta']) expect(cluster.workersOf(name)).toHaveLength(1);
      await unaryCall(cluster.client, Service.stopRun, { runId });
      await watchUntil(cluster.client, runId, RUN_PHASE_DONE);
      expect(await getRun(cluster.client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_STOPPED });
      expect(await cluster.end()).toEqual([]);
    },
    // Three starts of an orchestrator, and agents whose waits between two attempts grow to ten seconds meanwhile.
    180_000,
  );
});

it('a fail point is said aloud, and one that is not known ends the start', async () => {
  const words = ['orchestrator', '--listen', '127.0.0.1:0', '--data', temporaryFolder(), '--json'];
  const refused = await new Child(words, { STAGEPLANE_FAIL_POINT: 'now:1' }).end();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/STAGEPLANE_FAIL_POINT is .+now:1.+: write one of before-commit, after-commit, /);
  const warned = new Child(words, { STAGEPLANE_FAIL_POINT: 'after-answer:1', XDG_RUNTIME_DIR: temporaryFolder() });
  await warned.shown('stdout', 'address');
  expect(warned.stderr).toContain('THIS PROCESS WILL KILL ITSELF');
  warned.process.kill('SIGTERM');
  expect((await warned.end()).code).toBe(0);
});

/** Asks with one request id until a run is there: agents come back at their own pace, and until then a plan is rejected. */
async function created(cluster: Cluster): Promise<bigint> {
  for (;;) {
    try {
      return await cluster.create('r', 2);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
