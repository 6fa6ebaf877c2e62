import { expect, it } from 'vitest';
import { runId } from '../../../src/core/ids.js';
import { samplePlan } from './samples.js';
import { alpha, created } from './two-stage-run.js';

it('forgets a delivery that nobody will answer, once its stage is stopped (I16)', () => {
  const memory = created();
  for (let id = 2; id < 7; id++) {
    const request = { requestId: `r${id}`, digest: '', plan: samplePlan([2n]) };
    memory.step({ kind: 'run-requested', call: 1, request });
    memory.step({ kind: 'run-stop-requested', call: 1, runId: runId(BigInt(id)) });
    const report = { $case: 'stopped' as const, value: {} };
    const key = { runId: BigInt(id), stageIndex: 0, generation: 1 };
    memory.step({ kind: 'stage-reported', session: alpha, report: { reportId: BigInt(id), ...key, report } });
  }
  // Of run 1, which waits for its answer, and of the last one.
  const waiting = [...memory.world.sessions.get(alpha)!.unanswered.values()].map(({ runId: id }) => id);
  expect(waiting).toEqual([1n, 6n]);
});
