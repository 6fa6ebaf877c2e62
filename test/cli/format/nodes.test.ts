import { describe, expect, it } from 'vitest';
import { NodeConditionType as Type } from '../../../gen/stageplane/v1/node.js';
import { nodeDetails } from '../../../src/cli/format/node-details.js';
import { nodeState } from '../../../src/cli/format/node-state.js';
import { nodeTable } from '../../../src/cli/format/node-table.js';
import { alpha, beta } from '../sample.js';

const now = new Date('2026-01-02T03:04:05Z');
const taken = { ...alpha, reservations: [{ deviceId: 'cpu', reservedBytes: 3n << 30n, residentBytes: 2n << 30n }] };
const unsaid = { ...alpha, reservations: [{ deviceId: 'cpu', reservedBytes: 0n, residentBytes: 0n }] };

describe('nodes in words', () => {
  it('say what live runs reserved of each device, and what they hold of it', () => {
    expect(nodeDetails(taken, now)).toMatch(/TOTAL +RESERVED +HELD\n.*cpu .* 12\.0 GiB +16\.0 GiB +3\.0 GiB +2\.0 GiB/);
    const lines = nodeTable([taken, beta], now).split('\n');
    expect(lines[1]).toContain('cpu 12.0 GiB of 16.0 GiB (3.0 GiB reserved)');
    expect(lines[2]).toContain('cpu 12.0 GiB of 16.0 GiB');
    expect(lines[2]).not.toContain('reserved');
  });

  it('call a node drained once no stage of it is left', () => {
    const draining = [{ type: Type.NODE_CONDITION_TYPE_DRAINING, met: true, message: '' }];
    const conditions = [...alpha.conditions, ...draining];
    const left = { runId: 7n, stages: 1, waits: 'is being stopped' };
    expect(nodeState({ ...alpha, conditions, drain: { deadline: now, runs: [left] } })).toBe('draining');
    expect(nodeState({ ...alpha, conditions, drain: { deadline: now, runs: [] } })).toBe('drained');
  });

  it('tell a device without stages from one of which nobody has said what its stages take', () => {
    expect(nodeDetails(beta, now)).toMatch(/16\.0 GiB +- +-$/m);
    expect(nodeDetails(unsaid, now)).toMatch(/16\.0 GiB +unknown +unknown$/m);
    expect(nodeTable([unsaid], now)).not.toContain('reserved');
  });
});
