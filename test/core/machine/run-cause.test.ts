import { describe, expect, it } from 'vitest';
import { StageFaultReason as Reason } from '../../../gen/stageplane/v1/run.js';
import { nodeId, sessionId } from '../../../src/core/ids.js';
import { limits } from '../../../src/core/limits.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { alpha, beta, fault, heldBy, run1, running } from './two-stage-run.js';

describe('a silent node', () => {
  const complaint = (text: string): ClusterEvent => {
    const report = { $case: 'fault' as const, value: fault(Reason.STAGE_FAULT_REASON_EDGE_CLOSED, text) };
    return { kind: 'stage-reported', session: alpha, report: { reportId: 2n, ...run1, stageIndex: 0, report } };
  };

  it('is the cause, with what its neighbour said, within the bounds of a sentence', () => {
    const memory = running();
    memory.step(complaint('edge 2 was closed'), { kind: 'session-ended', session: beta, goodbye: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({
      fault: {
        reason: Reason.STAGE_FAULT_REASON_PEER_LOST,
        message: 'node "beta" went out of contact, and stage 1 with it: edge 2 was closed',
        logTail: [],
      },
      stageIndex: 1,
      nodeId: nodeId(3n),
      component: 'agent',
      fixed: true,
    });
    const long = running();
    long.step(complaint('x'.repeat(1024)), { kind: 'session-ended', session: beta, goodbye: false });
    long.pass(1000);
    expect(long.run(1).cause?.fault.message).toHaveLength(limits.faultMessageBytes);
  });

  it('is not the cause when it is the one that complained, nor when it is back in time', () => {
    const memory = running();
    memory.step(complaint('edge 2 was closed'), { kind: 'session-ended', session: alpha, goodbye: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({ stageIndex: 0, fault: { message: 'edge 2 was closed' } });

    const back = running();
    back.step(complaint('edge 2 was closed'), { kind: 'session-ended', session: beta, goodbye: false });
    back.step({ kind: 'hello-received', session: sessionId('beta-2'), hello: heldBy('beta', 1) });
    back.pass(1000);
    expect(back.run(1).cause).toMatchObject({ stageIndex: 0, component: 'worker' });
  });

  it('is not the cause when its stage was stopped before', () => {
    const memory = running();
    memory.step(complaint('edge 2 was closed'));
    const stopped = { reportId: 3n, ...run1, stageIndex: 1, report: { $case: 'stopped' as const, value: {} } };
    memory.step({ kind: 'stage-reported', session: beta, report: stopped });
    memory.step({ kind: 'session-ended', session: beta, goodbye: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({ stageIndex: 0 });
  });
});
