import { describe, expect, it } from 'vitest';
import { nodeId, type SessionId } from '../../src/core/ids.js';
import type { ClusterEvent } from '../../src/core/machine/events.js';
import { poolOf } from '../../src/core/machine/pool.js';
import { nodeView } from '../../src/orchestrator/node-view.js';
import { samplePlan } from '../core/machine/samples.js';
import { alpha, beta, created, ready, run1 } from '../core/machine/two-stage-run.js';
import type { WorldInMemory } from '../core/machine/world-in-memory.js';

/** Every live run has so many bytes reserved for each stage. */
function reserve(memory: WorldInMemory, reservedBytes: bigint): void {
  for (const run of memory.world.runs.values()) {
    memory.world.runs.set(run.runId, { ...run, settings: run.settings.map((stage) => ({ ...stage, reservedBytes })) });
  }
}

function heartbeat(session: SessionId, residentBytes: bigint): ClusterEvent {
  const stages = [{ ...run1, stageIndex: 0, usage: { heldSessions: 1, heldTokens: 1n }, residentBytes }];
  return { kind: 'heartbeat-received', session, sequence: 1n, usage: [], stages };
}

/** Of alpha, as operators see it. */
function reservations(memory: WorldInMemory) {
  const draft = memory.draft();
  return nodeView(draft, draft.node(nodeId(2n))!).reservations;
}

describe('what a node shows of its devices', () => {
  it('are the sums that plans reckon with, over all live stages', () => {
    const memory = created();
    memory.step({
      kind: 'run-requested',
      call: 1,
      request: { requestId: 'second', digest: 'second', plan: samplePlan([2n, 3n]) },
    });
    reserve(memory, 1000n);
    expect(reservations(memory)).toEqual([{ deviceId: 'cpu', reservedBytes: 2000n, residentBytes: 0n }]);
    memory.step(ready(alpha, 0));
    memory.step(heartbeat(alpha, 400n));
    expect(reservations(memory)).toEqual([{ deviceId: 'cpu', reservedBytes: 2000n, residentBytes: 400n }]);
    const [pooled] = poolOf(memory.draft())[0]!.devices;
    expect(pooled?.stages).toEqual([
      { reservedBytes: 1000n, residentBytes: 400n },
      { reservedBytes: 1000n, residentBytes: 0n },
    ]);
  });

  it('are none once its stages are stopped (I7)', () => {
    const memory = created();
    reserve(memory, 1000n);
    memory.step({ kind: 'run-stop-requested', call: 1, runId: run1.runId });
    expect(reservations(memory)).toHaveLength(1);
    const stopped = (session: SessionId, stageIndex: number): ClusterEvent => {
      const report = { $case: 'stopped' as const, value: {} };
      return { kind: 'stage-reported', session, report: { reportId: 1n, ...run1, stageIndex, report } };
    };
    memory.step(stopped(alpha, 0), stopped(beta, 1));
    expect(reservations(memory)).toEqual([]);
  });
});
