import { describe, expect, it } from 'vitest';
import type { SessionId } from '../../../src/core/ids.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { alpha, beta, created, run1, running } from './two-stage-run.js';
import type { WorldInMemory } from './world-in-memory.js';

describe('what a stage holds', () => {
  const heartbeat = (session: SessionId, heldTokens: bigint, stageIndex: number, generation = 1): ClusterEvent => {
    const stages = [{ ...run1, generation, stageIndex, usage: { heldSessions: 1, heldTokens }, residentBytes: 5n }];
    return { kind: 'heartbeat-received', session, sequence: 1n, usage: [], stages };
  };
  const held = (memory: WorldInMemory) => memory.run(1).stages.map(({ volatile }) => volatile.usage?.heldTokens);

  it('is the newest word of its own node, costs no commit, and outlives a heartbeat that is silent about it', () => {
    const memory = running();
    memory.step(heartbeat(alpha, 5n, 0));
    expect(memory.turn!.changes()).toBeUndefined();
    memory.step(heartbeat(alpha, 7n, 0), heartbeat(beta, 9n, 1));
    memory.step({ kind: 'heartbeat-received', session: alpha, sequence: 2n, usage: [], stages: [] });
    expect(held(memory)).toEqual([7n, 9n]);
  });

  it('is not what another node, another generation or a stage before READY says', () => {
    const memory = running();
    memory.step(heartbeat(alpha, 5n, 1), heartbeat(alpha, 6n, 0, 2), heartbeat(alpha, 6n, 9));
    expect(held(memory)).toEqual([undefined, undefined]);
    const loading = created();
    loading.step(heartbeat(alpha, 5n, 0));
    expect(held(loading)).toEqual([undefined, undefined]);
  });
});
