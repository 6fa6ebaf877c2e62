import { describe, expect, it } from 'vitest';
import { runId } from '../../../src/core/ids.js';
import { alpha, beta, created, heldBy, ready, run1 } from './two-stage-run.js';
import type { WorldInMemory } from './world-in-memory.js';

/** Run 1, with so many bytes reserved for each of its stages. */
function createdWith(...reserved: bigint[]): WorldInMemory {
  const memory = created();
  const run = memory.run(1);
  const settings = run.settings.map((stage, index) => ({ ...stage, reservedBytes: reserved[index]! }));
  memory.world.runs.set(run.runId, { ...run, settings });
  return memory;
}

/** What the last turn told of the run, by kind. */
const told = (memory: WorldInMemory) => memory.turn!.events.map(({ detail }) => detail?.$case);

describe('a stage that has loaded', () => {
  it('and holds over a tenth more than was reserved is told of beside READY, with a revision of its own', () => {
    const memory = createdWith(1000n, 1000n);
    memory.step(ready(alpha, 0, 1101n));
    const [phase, exceeded] = memory.turn!.events;
    expect(phase?.detail).toMatchObject({ $case: 'stagePhase', value: { stageIndex: 0 } });
    expect(exceeded?.detail).toEqual({
      $case: 'reservationExceeded',
      value: { stageIndex: 0, nodeId: 2n, reservedBytes: 1000n, deviceBytes: 1101n },
    });
    expect(exceeded?.revision).toBe(phase!.revision + 1n);
    expect(memory.run(1)).toMatchObject({ revision: exceeded!.revision, stages: [{ phase: 'READY' }, {}] });
  });

  it('is told of once, whatever its node repeats', () => {
    const memory = createdWith(1000n, 1000n);
    memory.step(ready(alpha, 0, 5000n));
    memory.step(ready(alpha, 0, 5000n));
    expect(told(memory)).toEqual([]);
    memory.step({ kind: 'session-ended', session: alpha, goodbye: false });
    memory.step({ kind: 'hello-received', session: alpha, hello: heldBy('alpha', 0) });
    expect(told(memory)).not.toContain('reservationExceeded');
  });

  it('is told of when the inventory brings it', () => {
    const memory = createdWith(1000n, 1000n);
    const hello = heldBy('alpha', 0);
    const footprint = { bytesRead: 1n, bytesDigest: '', deviceBytes: 2000n, hostBytes: 0n };
    memory.step({ kind: 'session-ended', session: alpha, goodbye: false });
    const entry = { ...hello.held[0]!, runId: runId(1n), footprint };
    memory.step({ kind: 'hello-received', session: alpha, hello: { ...hello, held: [entry] } });
    expect(told(memory)).toContain('reservationExceeded');
  });

  it('keeps quiet within a tenth, and when nobody could say what it needs', () => {
    const memory = createdWith(1000n, 0n);
    memory.step(ready(alpha, 0, 1100n), ready(beta, 1, 9000n), { kind: 'token-endpoint-ready', ...run1 });
    expect(told(memory)).not.toContain('reservationExceeded');
    expect(memory.run(1).phase).toBe('RUNNING');
  });
});
