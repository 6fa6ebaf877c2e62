import { describe, expect, it } from 'vitest';
import { StageFaultReason as Reason } from '../../../gen/stageplane/v1/run.js';
import { runId, sessionId } from '../../../src/core/ids.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { alpha, beta, created, fault, heldBy, ready, run1, running } from './two-stage-run.js';

describe('a token endpoint', () => {
  it.each([
    [Reason.STAGE_FAULT_REASON_WORKER_START_FAILED, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_WORKER_EXITED, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_WORKER_PROTOCOL, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_WORKER_UNRESPONSIVE, Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST],
    [Reason.STAGE_FAULT_REASON_EDGE_UNREACHABLE, Reason.STAGE_FAULT_REASON_EDGE_UNREACHABLE],
    [Reason.STAGE_FAULT_REASON_MODEL_INVALID, Reason.STAGE_FAULT_REASON_MODEL_INVALID],
    [Reason.STAGE_FAULT_REASON_OUT_OF_MEMORY, Reason.STAGE_FAULT_REASON_OUT_OF_MEMORY],
  ])('that is lost with %i ends the run with %i at once, and with its own sentence', (told, cause) => {
    const memory = running();
    memory.step({ kind: 'token-endpoint-lost', ...run1, fault: fault(told) });
    const { phase, cause: known } = memory.run(1);
    expect(phase).toBe('TEARING_DOWN');
    expect(known).toMatchObject({ component: 'token-endpoint', fixed: true, fault: { ...fault(cause) } });
    expect(known?.stageIndex ?? known?.nodeId).toBeUndefined();
    expect(memory.turn!.events.map(({ revision }) => revision)).toContain(known?.revision);
  });

  it('whose edge was closed is the cause only when nothing better comes within a second', () => {
    const memory = running();
    memory.step({ kind: 'token-endpoint-lost', ...run1, fault: fault(Reason.STAGE_FAULT_REASON_EDGE_CLOSED) });
    expect(memory.run(1).cause).toMatchObject({ component: 'token-endpoint', fixed: false });
    memory.pass(1000);
    expect(memory.run(1).cause).toMatchObject({ component: 'token-endpoint', fixed: true });
  });

  it('of another generation, of no run, or one that was closed, changes nothing but a counter (I6)', () => {
    const memory = created();
    const strangers: ClusterEvent[] = [
      { kind: 'token-endpoint-ready', ...run1, generation: 2 },
      { kind: 'token-endpoint-ready', ...run1, runId: runId(9n) },
      { kind: 'token-endpoint-lost', ...run1, generation: 2, fault: fault(Reason.STAGE_FAULT_REASON_EDGE_CLOSED) },
    ];
    const before = memory.run(1);
    memory.step(...strangers);
    expect(memory.run(1)).toEqual(before);
    memory.step({ kind: 'run-stop-requested', call: 1, runId: run1.runId });
    const stopped = memory.run(1);
    memory.step({ kind: 'token-endpoint-ready', ...run1 });
    expect(memory.run(1)).toEqual(stopped);
    expect(memory.world.ignored).toMatchObject({ 'old-generation': 3, 'out-of-date': 1 });
  });

  it('that misses the deadline of edges is named with both its neighbours and what to check', () => {
    const memory = created();
    memory.step(ready(alpha, 0), ready(beta, 1));
    memory.pass(30_000);
    expect(memory.run(1).cause).toMatchObject({
      component: 'token-endpoint',
      fault: {
        reason: Reason.STAGE_FAULT_REASON_EDGE_DEADLINE,
        message:
          'the token endpoint of run 1 waited 30 s for its edges from stage 1 on node "beta" and to stage 0 on node "alpha", with every stage loaded: check --edge-listen on the node that is connected to, and --edge-address where it is connected from',
      },
    });
  });

  it('is not blamed while the node of a stage beside it is away', () => {
    const memory = created();
    memory.step(ready(alpha, 0), ready(beta, 1));
    memory.pass(20_000);
    memory.step({ kind: 'session-ended', session: beta, goodbye: false });
    memory.pass(20_000);
    memory.step({ kind: 'hello-received', session: sessionId('beta-2'), hello: heldBy('beta', 1) });
    memory.pass(29_999);
    expect(memory.run(1).phase).toBe('WAITING_READY');
    memory.pass(1);
    expect(memory.run(1).cause?.fault.reason).toBe(Reason.STAGE_FAULT_REASON_EDGE_DEADLINE);
  });
});
