import { describe, expect, it } from 'vitest';
import { LoadProgress_Phase, StageFaultReason } from '../../../../gen/stageplane/v1/run.js';
import { limits } from '../../../../src/core/limits.js';
import type { AgentEvent } from '../../../../src/core/machine/agent/events.js';
import { stageName } from '../../../../src/core/machine/agent/state.js';
import { Driver, delivery, footprint, keyOf } from './driver.js';

const A = keyOf(7n, 0);

function holding(): Driver {
  const agent = new Driver().join();
  agent.provision(delivery(7n, [0]));
  return agent;
}

function faultOf(agent: Driver) {
  return agent.state.stages.get(stageName(A))?.fault;
}

describe('a worker', () => {
  it('that says hello gets its stage, with the file of this machine', () => {
    const agent = holding();
    agent.take({ kind: 'worker-greeted', key: A, hello: { protocol: 1, engines: ['fixture'], features: [] } });
    expect(agent.effects).toMatchObject([
      {
        kind: 'command-worker',
        command: {
          command: { $case: 'prepare', value: { generation: 1, modelPath: '/models/m.gguf', producerNodeId: 1n } },
        },
      },
    ]);
  });

  it.each([
    [{ protocol: 2, engines: ['fixture'], features: [] }, 'protocol 2'],
    [{ protocol: 1, engines: ['other'], features: [] }, 'no engine "fixture", only other'],
  ])('that cannot do it is ended: %j', (hello, words) => {
    const agent = holding();
    agent.take({ kind: 'worker-greeted', key: A, hello });
    expect(agent.did()).toEqual(['kill-worker 7/0 g1', 'send fault 7/0 g1 #1']);
    expect(faultOf(agent)?.message).toContain(words);
  });

  it('that loads and becomes ready is reported; progress is not kept', () => {
    const agent = holding();
    const progress = { phase: LoadProgress_Phase.PHASE_BYTES, bytesDone: 1n, bytesTotal: 2n };
    agent.take({ kind: 'worker-loading', key: A, progress });
    expect(agent.did()).toEqual(['send loading 7/0 g1 #0']);
    expect(agent.state.reports.size).toBe(0);
    agent.ready(A);
    expect(agent.did()).toEqual(['send ready 7/0 g1 #1']);
    expect(agent.phase(A)).toBe('READY');
    agent.take({ kind: 'worker-loading', key: A, progress });
    expect(agent.did()).toEqual([]);
  });

  it('that has loaded and waits is told of again after each Welcome, and no more once it is ready', () => {
    const agent = holding();
    for (const [phase, bytesDone] of [
      [LoadProgress_Phase.PHASE_BYTES, 1n],
      [LoadProgress_Phase.PHASE_WAITING_EDGES, 2n],
    ] as const) {
      agent.take({ kind: 'worker-loading', key: A, progress: { phase, bytesDone, bytesTotal: 2n } });
    }
    agent.take({ kind: 'stream-ended', session: 1 });
    agent.join();
    const sent = agent.effects.flatMap((effect) => (effect.kind === 'send' ? [effect.message.message] : []));
    const progress = { phase: LoadProgress_Phase.PHASE_WAITING_EDGES, bytesDone: 2n, bytesTotal: 2n };
    expect(sent).toMatchObject([{ $case: 'report', value: { reportId: 0n, report: { value: progress } } }]);
    agent.ready(A);
    agent.join();
    expect(agent.did().filter((what) => what.includes('7/0'))).toEqual(['send ready 7/0 g1 #1']);
  });

  it('executes while its engine is in a step', () => {
    const agent = holding();
    agent.take({ kind: 'worker-healthy', key: A, busyMillis: 9n });
    expect(agent.phase(A)).toBe('PREPARING');
    agent.ready(A);
    agent.take({ kind: 'worker-healthy', key: A, busyMillis: 9n });
    expect(agent.phase(A)).toBe('EXECUTING');
    agent.take({ kind: 'worker-healthy', key: A, busyMillis: 0n });
    expect(agent.phase(A)).toBe('READY');
  });

  it('whose engine hangs in a step is killed although it answers, and one that takes long to load is not', () => {
    const agent = holding();
    agent.take({ kind: 'worker-healthy', key: A, busyMillis: 70_000n });
    expect(agent.did()).toEqual([]);
    agent.ready(A);
    agent.take({ kind: 'worker-healthy', key: A, busyMillis: 59_999n });
    expect(agent.phase(A)).toBe('EXECUTING');
    agent.take({ kind: 'worker-healthy', key: A, busyMillis: 63_000n });
    expect(agent.did()).toEqual(['kill-worker 7/0 g1', 'send fault 7/0 g1 #2']);
    expect(faultOf(agent)).toMatchObject({
      reason: StageFaultReason.STAGE_FAULT_REASON_STEP_DEADLINE,
      message:
        'stage 0 of run 7, generation 1 on node "alpha" has been at one micro-batch for 63 s: look at its log; if the machine is only slow, plan a smaller micro-batch or raise the agent\'s --step-deadline',
    });
  });

  const failed = (failure: Extract<AgentEvent, { kind: 'worker-failed' }>['failure']): AgentEvent => ({
    kind: 'worker-failed',
    key: A,
    failure,
    logTail: ['last words'],
  });
  it.each([
    [failed({ kind: 'start-failed', command: 'w', why: 'ENOENT' }), 'WORKER_START_FAILED', '"w" (ENOENT)'],
    [failed({ kind: 'hello-missing', waited: 30_000 }), 'WORKER_START_FAILED', 'hello within 30 s'],
    [failed({ kind: 'line-broken', problem: 'is not JSON: "x"' }), 'WORKER_PROTOCOL', 'a line that is not JSON'],
    [failed({ kind: 'silent', waited: 30_000 }), 'WORKER_UNRESPONSIVE', 'health check within 30 s'],
  ] as const)('that breaks its word is killed and its stage faulted: %#', (event, reason, words) => {
    const agent = holding();
    agent.take(event);
    expect(agent.did()).toEqual(['kill-worker 7/0 g1', 'send fault 7/0 g1 #1']);
    expect(faultOf(agent)).toMatchObject({
      reason: StageFaultReason[`STAGE_FAULT_REASON_${reason}`],
      message: expect.stringContaining(words),
      logTail: ['last words'],
    });
  });

  it.each([
    [3, null, 'exited with code 3'],
    [null, 'SIGKILL', 'was ended by SIGKILL'],
  ])('that ends by itself (%s, %s) is a fault, and nothing is left to kill', (code, signal, words) => {
    const agent = holding();
    agent.ready(A);
    agent.exit(A, code, signal);
    expect(agent.did()).toEqual(['send fault 7/0 g1 #2']);
    expect(faultOf(agent)).toMatchObject({
      reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED,
      message: expect.stringContaining(words),
    });
    expect(agent.phase(A)).toBe('FAULTED');
  });

  it('that faulted says so once: its exit afterwards is no second fault', () => {
    const agent = holding();
    const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_LOAD_FAILED, message: 'x', logTail: [] };
    agent.take({ kind: 'worker-faulted', key: A, fault });
    agent.exit(A, null, 'SIGKILL');
    expect(agent.did()).toEqual([]);
    expect(faultOf(agent)).toEqual(fault);
    expect([...agent.state.reports.values()].map(({ report }) => report?.$case)).toEqual(['fault']);
  });

  it('whose stage has no edges is ended: it never hears of the stage', () => {
    const agent = holding();
    agent.take({ kind: 'edges-refused', key: A, message: `nothing says where node 3 is ${'x'.repeat(9999)}` });
    expect(agent.did()).toEqual(['kill-worker 7/0 g1', 'send fault 7/0 g1 #1']);
    const { reason, message } = faultOf(agent)!;
    expect(reason).toBe(StageFaultReason.STAGE_FAULT_REASON_EDGE_UNREACHABLE);
    expect(message).toMatch(
      /^node "alpha" cannot open the edges of stage 0 of run 7, generation 1: nothing says where/,
    );
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(limits.faultMessageBytes);
  });

  it('that is being stopped cannot become ready, and its end is no fault when it was asked or killed', () => {
    for (const end of [() => [0], () => [null, 'SIGKILL', true]] as const) {
      const agent = holding();
      agent.stop(A);
      agent.ready(A);
      expect(agent.phase(A)).toBe('STOPPING');
      agent.exit(A, ...(end() as [number | null, string | null, boolean]));
      expect(agent.did()).toEqual(['send stopped 7/0 g1 #1']);
    }
  });

  it('whose own end met the stop on the way is told of first: it may be the cause of the stop', () => {
    const agent = holding();
    agent.ready(A);
    agent.stop(A);
    agent.exit(A, null, 'SIGKILL');
    expect(agent.did()).toEqual(['send fault 7/0 g1 #2', 'send stopped 7/0 g1 #3']);
    expect(faultOf(agent)?.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED);
  });

  it.each([
    ['OUT_OF_MEMORY', ['send fault 7/0 g1 #2']],
    // Its neighbour has been stopped before it.
    ['EDGE_CLOSED', []],
  ] as const)('that is being stopped and faults with %s keeps its phase', (reason, did) => {
    const agent = holding();
    agent.ready(A);
    agent.stop(A);
    const fault = { reason: StageFaultReason[`STAGE_FAULT_REASON_${reason}`], message: 'x', logTail: [] };
    agent.take({ kind: 'worker-faulted', key: A, fault });
    expect(agent.did()).toEqual(did);
    expect(agent.phase(A)).toBe('STOPPING');
  });

  it('of a stage that nobody holds changes nothing', () => {
    const agent = new Driver().join();
    agent.take({ kind: 'worker-ready', key: A, footprint });
    agent.exit(A);
    expect(agent.state.stages.size).toBe(0);
  });
});
