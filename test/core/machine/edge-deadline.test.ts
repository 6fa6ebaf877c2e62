import { describe, expect, it } from 'vitest';
import { StageFaultReason as Reason } from '../../../gen/stageplane/v1/run.js';
import { millis } from '../../../src/core/ids.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { alpha, beta, created, ready, run1, running } from './two-stage-run.js';

describe('a stage that waits for its edges', () => {
  const loading = (phase: number, bytesDone: bigint, session = alpha, stageIndex = 0): ClusterEvent => {
    const report = { $case: 'loading' as const, value: { phase, bytesDone, bytesTotal: 9n } };
    return { kind: 'stage-reported', session, report: { reportId: 0n, ...run1, stageIndex, report } };
  };

  it('is named with its neighbours and what to check when they do not come up', () => {
    const memory = created();
    memory.step(ready(beta, 1), loading(2, 9n));
    memory.pass(30_000);
    expect(memory.run(1).cause).toMatchObject({
      stageIndex: 0,
      component: 'orchestrator',
      fault: {
        reason: Reason.STAGE_FAULT_REASON_EDGE_DEADLINE,
        message:
          'stage 0 of run 1 on node "alpha" waited 30 s for its edges from the token endpoint and to stage 1 on node "beta", with every stage loaded: check --edge-listen on the node that is connected to, and --edge-address where it is connected from',
      },
    });
  });

  it('has its load deadline again when it turns out that it still loads', () => {
    const memory = created();
    memory.step(loading(2, 9n), { kind: 'delivery-acked', session: beta, deliveryId: 1n });
    memory.pass(50_000);
    memory.step(loading(1, 1n, beta, 1));
    memory.pass(40_000);
    memory.step(loading(1, 3n), ready(beta, 1));
    memory.pass(59_999);
    expect(memory.run(1).phase).toBe('WAITING_READY');
    memory.pass(1);
    expect(memory.run(1).cause?.fault.reason).toBe(Reason.STAGE_FAULT_REASON_LOAD_DEADLINE);
  });

  it('has them from the moment it waits, when the loads of all had ended and begun again', () => {
    const memory = created();
    memory.step(ready(beta, 1), loading(2, 9n));
    memory.pass(20_000);
    memory.step(loading(1, 3n));
    memory.pass(20_000);
    memory.step(loading(2, 9n));
    memory.pass(29_999);
    expect(memory.run(1).phase).toBe('WAITING_READY');
    memory.pass(1);
    expect(memory.run(1).cause?.fault.reason).toBe(Reason.STAGE_FAULT_REASON_EDGE_DEADLINE);
  });
});

describe('a run', () => {
  it('remembers over a restart what its plan promised of its arithmetic, and no token endpoint', () => {
    const memory = running();
    expect(memory.run(1)).toMatchObject({ fidelity: 'same-kernels', volatile: { endpoint: 'ready' } });
    memory.restart();
    expect(memory.run(1)).toMatchObject({ fidelity: 'same-kernels', volatile: {} });
    expect(memory.run(1).volatile).toEqual({});
  });

  it('whose stages are loaded has its deadline from that moment', () => {
    const memory = created();
    memory.pass(5000);
    memory.step(ready(alpha, 0), ready(beta, 1));
    expect(memory.run(1).volatile.loadedSince).toBe(millis(6000));
  });
});
