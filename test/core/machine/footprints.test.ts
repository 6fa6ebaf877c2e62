import { describe, expect, it } from 'vitest';
import { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { revision, runId } from '../../../src/core/ids.js';
import { limits } from '../../../src/core/limits.js';
import { ledgerOf } from '../../../src/core/machine/footprints.js';
import { samplePlan } from './samples.js';
import { alpha, beta, created, heldBy, ready, run1 } from './two-stage-run.js';
import type { WorldInMemory } from './world-in-memory.js';

/** Run 1 over layers 0-4 on alpha and 4-8 on beta, of a model that somebody has read. */
function createdFromFile(digest = 'ab12'): WorldInMemory {
  const memory = created();
  memory.step({ kind: 'run-stop-requested', call: 1, runId: runId(1n) });
  return withRun(memory, '2', digest);
}

/** One more run of the same kind. */
function withRun(memory: WorldInMemory, requestId: string, digest = 'ab12'): WorldInMemory {
  const plan = { ...samplePlan([2n, 3n]), settings: StageSettings.fromPartial({ modelDigest: digest }) };
  memory.step({ kind: 'run-requested', call: 1, request: { requestId, digest: requestId, plan } });
  return memory;
}

/** What the ledger says of layers of run 2's model. */
function ledger(memory: WorldInMemory, start: number, end: number): number | undefined {
  return ledgerOf(memory.draft())(memory.run(2).settings[0]!)(start, end)?.deviceBytes;
}

const readyOf = (id: bigint, ...report: Parameters<typeof ready>) => {
  const event = ready(...report);
  if (event.kind !== 'stage-reported') throw new Error('a report is expected');
  return { ...event, report: { ...event.report, runId: id } };
};

describe('the ledger', () => {
  it('knows what each stage measured, of its own layers alone', () => {
    const memory = createdFromFile();
    memory.step(readyOf(2n, alpha, 0, 500n), readyOf(2n, beta, 1, 700n));
    expect([ledger(memory, 0, 4), ledger(memory, 4, 8), ledger(memory, 0, 8)]).toEqual([500, 700, undefined]);
    expect(memory.turn!.changes()?.footprints.map(({ deviceBytes }) => deviceBytes)).toEqual([500n, 700n]);
  });

  it('takes the newest measurement, be it smaller', () => {
    const memory = withRun(createdFromFile(), '3');
    memory.step(readyOf(2n, alpha, 0, 500n), readyOf(2n, beta, 1, 700n), readyOf(3n, alpha, 0, 400n));
    expect(ledger(memory, 0, 4)).toBe(400);
    expect([...memory.world.footprints.values()].map(({ deviceBytes }) => deviceBytes)).toEqual([700n, 400n]);
  });

  it('asks for the turn before its commit too', () => {
    const memory = createdFromFile();
    memory.step(readyOf(2n, alpha, 0, 500n));
    const draft = memory.draft();
    const [known] = memory.world.footprints.values();
    draft.putFootprint({ ...known!, deviceBytes: 600n });
    expect(ledgerOf(draft)(memory.run(2).settings[0]!)(0, 4)).toEqual({ deviceBytes: 600 });
    expect(ledger(memory, 0, 4)).toBe(500);
  });

  it('counts an inventory as the report', () => {
    const memory = createdFromFile();
    const held = heldBy('alpha', 0);
    const footprint = { bytesRead: 1n, bytesDigest: '', deviceBytes: 500n, hostBytes: 0n };
    memory.step({ kind: 'session-ended', session: alpha, goodbye: false });
    const entry = { ...held.held[0]!, runId: runId(2n), footprint };
    memory.step({ kind: 'hello-received', session: alpha, hello: { ...held, held: [entry] } });
    expect(memory.run(2).stages[0]?.phase).toBe('READY');
    expect(ledger(memory, 0, 4)).toBe(500);
  });

  it('survives a restart, and the run that it comes from', () => {
    const memory = createdFromFile();
    memory.step(readyOf(2n, alpha, 0, 500n));
    const settings = memory.run(2).settings[0]!;
    memory.restart();
    memory.world.runs.clear();
    expect(ledgerOf(memory.draft())(settings)(0, 4)).toEqual({ deviceBytes: 500 });
  });

  it.each([
    ['of a model that nobody has read', '', 500n],
    ['of an engine that measures nothing', 'ab12', 0n],
    ['that no device can hold', 'ab12', 2n ** 63n],
  ])('takes no measurement %s', (_, digest, deviceBytes) => {
    const memory = createdFromFile(digest);
    memory.step(readyOf(2n, alpha, 0, deviceBytes));
    expect(memory.run(2).stages[0]?.phase).toBe('READY');
    expect(memory.world.footprints.size).toBe(0);
  });

  it('takes none of a stage that is not to be ready, or was before', () => {
    const memory = createdFromFile();
    memory.step(readyOf(2n, alpha, 0, 500n));
    memory.step(readyOf(2n, alpha, 0, 900n), readyOf(2n, beta, 0, 900n), { ...readyOf(run1.runId, alpha, 0, 900n) });
    expect(memory.turn!.changes()).toBeUndefined();
    expect([...memory.world.footprints.values()].map(({ deviceBytes }) => deviceBytes)).toEqual([500n]);
  });

  it('is bounded: the oldest go (I16)', () => {
    const memory = createdFromFile();
    const draft = memory.draft();
    for (let at = 1; at <= limits.footprintRecords; at++)
      draft.putFootprint({ key: `k${at}`, deviceBytes: 1n, revision: revision(BigInt(at)) });
    draft.applyTo(memory.world);
    memory.step(readyOf(2n, alpha, 0, 500n));
    expect(memory.world.footprints.size).toBe(limits.footprintRecords);
    expect(memory.world.footprints.has('k1')).toBe(false);
    expect(memory.world.footprints.has('k2')).toBe(true);
    expect(ledger(memory, 0, 4)).toBe(500);
  });
});
