import { describe, expect, it } from 'vitest';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { Fidelity, StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import { nodeId } from '../../../src/core/ids.js';
import type { PoolNode } from '../../../src/core/planner/pool-node.js';
import { shareThreads } from '../../../src/core/planner/share-threads.js';

const node = (id: bigint, physicalCores: number, ...reserved: [runId: bigint, threads: number][]): PoolNode => ({
  nodeId: nodeId(id),
  name: `node-${id}`,
  engines: [],
  physicalCores,
  reservedThreads: reserved.map(([runId, threads]) => ({ runId, threads })),
  devices: [],
  labels: {},
});
const planOn = (...ids: bigint[]) =>
  ({ stages: ids.map((id, stageIndex) => ({ stageIndex, nodeId: id })) }) as unknown as RunPlan;
const settings = (change: Partial<StageSettings> = {}) =>
  StageSettings.fromPartial({ engine: 'llama.cpp', threads: 0, fidelity: Fidelity.FIDELITY_FAST, ...change });

function sentence(plan: RunPlan, pool: readonly PoolNode[], change: Partial<StageSettings> = {}): string {
  const shared = shareThreads(plan, pool, settings(change));
  if (shared.kind === 'shared') throw new Error(`shared ${shared.threads}`);
  return shared.rejection.message;
}

describe('threads that nobody asked for', () => {
  it('are what is free on each node, shared evenly by the stages there', () => {
    const pool = [node(2n, 8), node(3n, 4, [1n, 1]), node(4n, 2)];
    expect(shareThreads(planOn(2n, 3n, 2n, 4n, 2n), pool, settings())).toEqual({
      kind: 'shared',
      threads: [2, 3, 2, 2, 2],
      warnings: [],
    });
  });

  it('are the same everywhere in an exact run: what the poorest node can give', () => {
    const pool = [node(2n, 8), node(3n, 4, [1n, 1]), node(4n, 4)];
    const exact = settings({ fidelity: Fidelity.FIDELITY_EXACT });
    expect(shareThreads(planOn(2n, 3n), pool, exact)).toMatchObject({ threads: [3, 3] });
    expect(shareThreads(planOn(2n, 4n, 4n), pool, exact)).toMatchObject({ threads: [2, 2, 2] });
  });

  it('are at least one, if there is one', () => {
    expect(sentence(planOn(2n, 2n, 2n), [node(2n, 3, [5n, 1])])).toBe(
      'node "node-2" has 3 cores, of which run 5 has 1: 3 stages of 1 thread need 3; place fewer stages there, stop a run there, start it with fewer threads or use another node',
    );
    expect(shareThreads(planOn(2n, 2n), [node(2n, 3, [5n, 1])], settings())).toMatchObject({ threads: [1, 1] });
  });
});

describe('threads that were asked for', () => {
  it('are given to every stage, up to the last core', () => {
    expect(shareThreads(planOn(2n, 3n), [node(2n, 4), node(3n, 8)], settings({ threads: 4 }))).toMatchObject({
      threads: [4, 4],
    });
  });

  it('are refused one above, with who has the others', () => {
    const pool = [node(2n, 8), node(3n, 8, [3n, 4], [6n, 1])];
    const shared = shareThreads(planOn(2n, 3n), pool, settings({ threads: 4 }));
    expect(shared).toEqual({
      kind: 'rejected',
      rejection: {
        kind: Kind.PLAN_REJECTION_KIND_NODE_NOT_SCHEDULABLE,
        message: expect.any(String),
        violations: [
          {
            field: 'stages[1].node_id',
            message:
              'node "node-3" has 8 cores, of which run 3 has 4, run 6 has 1: 1 stage of 4 threads needs 4; ' +
              'ask for fewer threads, stop a run there, start it with fewer threads or use another node',
          },
        ],
      },
    });
    expect(sentence(planOn(2n, 2n), [node(2n, 1)], { threads: 1 })).toMatch(/has 1 core: 2 stages of 1 thread need 2;/);
  });
});

it('a node that does not know its cores is warned of, and gets one thread per stage', () => {
  const shared = shareThreads(planOn(2n, 3n), [node(2n, 0, [1n, 9]), node(3n, 4)], settings());
  expect(shared).toMatchObject({
    threads: [1, 4],
    warnings: [expect.stringMatching(/^node "node-2" does not say how many cores it has, so nobody checks/)],
  });
});

it('an engine that computes with none of its own needs none', () => {
  const pool = [node(2n, 1, [1n, 1])];
  const fixture = settings({ engine: 'fixture', threads: 9 });
  expect(shareThreads(planOn(2n, 2n), pool, fixture)).toEqual({ kind: 'shared', threads: [9, 9], warnings: [] });
});
