import { describe, expect, it } from 'vitest';
import { runPhases, runTransitions } from '../../../src/core/machine/run-transitions.js';
import { stagePhases, stageRank, stageTransitions } from '../../../src/core/machine/stage-transitions.js';

const stageRows = stageTransitions.flatMap(({ from, on, to }) => from.map((phase) => ({ phase, on, to })));
const runRows = runTransitions.flatMap(({ from, on, to }) => from.map((phase) => ({ phase, on, to })));

describe('the stage table', () => {
  it('never lowers a rank (I2)', () => {
    for (const { phase, to } of stageRows) expect(stageRank(to)).toBeGreaterThan(stageRank(phase));
  });

  it('has at most one row per phase and trigger', () => {
    const pairs = stageRows.map(({ phase, on }) => `${phase} ${on}`);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it('leads out of every phase but STOPPED, and into every phase but PENDING', () => {
    expect(new Set(stageRows.map(({ phase }) => phase))).toEqual(new Set(stagePhases.slice(0, -1)));
    expect(new Set(stageRows.map(({ to }) => to))).toEqual(new Set(stagePhases.slice(1)));
  });
});

describe('the run table', () => {
  it('never lowers a rank (I2)', () => {
    // Two rows stay in TEARING_DOWN and only decide its outcome; one begins another generation, which is a higher rank.
    for (const { phase, on, to } of runRows) {
      if (on === 'planned-again') continue;
      const rises = runPhases.indexOf(to) - runPhases.indexOf(phase);
      expect(rises > 0 || (rises === 0 && to === 'TEARING_DOWN')).toBe(true);
    }
  });

  it('has at most one row per phase and trigger', () => {
    const pairs = runRows.map(({ phase, on }) => `${phase} ${on}`);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it('sets an outcome exactly on the way into TEARING_DOWN, but for an attempt that failed (I1)', () => {
    for (const row of runTransitions)
      expect('outcome' in row).toBe(row.to === 'TEARING_DOWN' && row.on !== 'attempt-failed');
  });

  it('never sets an outcome twice, and is DONE only with one (I1)', () => {
    for (const row of runTransitions) {
      const { guard } = row as { guard?: string };
      if (row.from.some((phase) => phase === 'TEARING_DOWN'))
        expect(guard).toBe(row.to === 'DONE' ? 'decided' : 'undecided');
    }
  });
});
