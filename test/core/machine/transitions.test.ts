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
    for (const { phase, to } of runRows) expect(runPhases.indexOf(to)).toBeGreaterThan(runPhases.indexOf(phase));
  });

  it('has at most one row per phase and trigger', () => {
    const pairs = runRows.map(({ phase, on }) => `${phase} ${on}`);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it('sets an outcome exactly on the way into TEARING_DOWN (I1)', () => {
    for (const row of runTransitions) expect('outcome' in row).toBe(row.to === 'TEARING_DOWN');
  });
});
