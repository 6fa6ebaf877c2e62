import { describe, expect, it } from 'vitest';
import { Node, NodeConditionType as Type } from '../../gen/stageplane/v1/node.js';
import { poolOfNodes } from '../../src/cli/pool-of-nodes.js';
import { alpha, beta } from './sample.js';

const withConditions = (conditions: Node['conditions']) => poolOfNodes([{ ...alpha, conditions }])[0]!.obstacle;

describe('the pool that nodes tell of', () => {
  it('has their devices, engines, cores and labels, by ascending id', () => {
    const cored = Node.fromPartial({
      ...alpha,
      descriptor: { ...alpha.descriptor, physicalCores: 6, labels: { a: 'b' } },
    });
    const [first, second] = poolOfNodes([beta, cored]);
    expect([first!.name, second!.name]).toEqual(['alpha', 'beta']);
    expect(first).toMatchObject({
      physicalCores: 6,
      labels: { a: 'b' },
      engines: alpha.engines,
      devices: [{ deviceId: 'cpu', totalBytes: 16n << 30n, freeBytes: 12n << 30n, stages: [] }],
    });
    expect(first!.obstacle).toBeUndefined();
  });

  it('says why a node takes no stage, in the words of the orchestrator', () => {
    const not = { type: Type.NODE_CONDITION_TYPE_SCHEDULABLE, met: false, message: 'node "alpha" is resting: wake it' };
    const met = (type: Type) => ({ type, met: true, message: '' });
    const reasonOf = (...conditions: Node['conditions']) => withConditions([not, ...conditions])?.reason;
    expect(withConditions([not])).toEqual({ reason: 'not-connected', message: not.message });
    expect(reasonOf(met(Type.NODE_CONDITION_TYPE_CORDONED))).toBe('cordoned');
    expect(reasonOf(met(Type.NODE_CONDITION_TYPE_LOST))).toBe('lost');
    expect(reasonOf(met(Type.NODE_CONDITION_TYPE_RECONCILED))).toBe('full');
    expect(withConditions([])?.message).toContain('stageplane nodes get alpha');
  });
});
