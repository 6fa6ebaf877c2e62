import { expect } from 'vitest';
import { HeldStagePhase } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { StageFaultReason as Reason, StageFault } from '../../../gen/stageplane/v1/run.js';
import { runId, type SessionId, sessionId } from '../../../src/core/ids.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import type { Timings } from '../../../src/core/machine/timings.js';
import { sampleHello, samplePlan } from './samples.js';
import { WorldInMemory } from './world-in-memory.js';

export const alpha = sessionId('alpha-1');
export const beta = sessionId('beta-1');
export const run1 = { runId: runId(1n), generation: 1 };

/** Two stages, on alpha and beta; with a prompt the run is ONE_SHOT. */
export function created(prompt = '', timings: Partial<Timings> = {}): WorldInMemory {
  const memory = new WorldInMemory(timings);
  memory.step({ kind: 'hello-received', session: alpha, hello: sampleHello('alpha') });
  memory.step({ kind: 'hello-received', session: beta, hello: sampleHello('beta') });
  const request = { requestId: 'r', digest: 'r', plan: samplePlan([2n, 3n], prompt) };
  memory.step({ kind: 'run-requested', call: 1, request });
  return memory;
}

export function running(prompt = '', timings: Partial<Timings> = {}): WorldInMemory {
  const memory = created(prompt, timings);
  memory.step(ready(alpha, 0), ready(beta, 1), { kind: 'token-endpoint-ready', ...run1 });
  expect(memory.run(1).phase).toBe('RUNNING');
  return memory;
}

export function ready(session: SessionId, stageIndex: number, deviceBytes = 0n): ClusterEvent {
  const report = { $case: 'ready' as const, value: { bytesRead: 1n, bytesDigest: '', deviceBytes, hostBytes: 0n } };
  return { kind: 'stage-reported', session, report: { reportId: 1n, ...run1, stageIndex, report } };
}

export function fault(reason: Reason, message = 'it ended'): StageFault {
  return { reason, message, logTail: ['last line'] };
}

/** The Hello of a node that comes back with its stage READY. */
export function heldBy(name: string, stageIndex: number) {
  return sampleHello(name, {
    clusterId: 'cluster-a',
    held: [{ ...run1, stageIndex, phase: HeldStagePhase.HELD_STAGE_PHASE_READY }],
  });
}
