import { describe, expect, it } from 'vitest';
import { nodeId, revision, runId } from '../../../src/core/ids.js';
import { lostGenerations, stepOver } from '../../../src/core/machine/step-over.js';

const cluster = {
  clusterId: 'c',
  epoch: 5n,
  revision: revision(300n),
  nextRunId: runId(8n),
  nextNodeId: nodeId(4n),
  goneNodeId: nodeId(2n),
};

describe('stepping over', () => {
  it('takes a thousand ids with each epoch, so that two lives of one copy share none', () => {
    const [first, second] = [1005n, 2005n].map((epoch) => stepOver(cluster, epoch));
    expect(first).toEqual({
      ...cluster,
      epoch: 1005n,
      revision: 1_000_300n,
      nextRunId: 1_000_008n,
      nextNodeId: 1_000_004n,
      goneNodeId: 1_000_003n,
    });
    expect(second!.nextRunId - first!.nextRunId).toBe(1_000_000n);
  });

  it('leaves generations for those that were lost, other ones in each life, and none to runs of this life', () => {
    const [first, second] = [1005n, 2005n].map((epoch) => stepOver(cluster, epoch));
    expect(lostGenerations(cluster, runId(1n))).toBe(0);
    expect(lostGenerations(first!, runId(7n))).toBe(1000);
    expect(lostGenerations(second!, runId(7n))).toBe(2000);
    const later = { ...first!, nextRunId: runId(first!.nextRunId + 10_000n) };
    expect(lostGenerations(later, first!.nextRunId)).toBe(0);
  });
});
