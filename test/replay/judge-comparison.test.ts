import { describe, expect, it } from 'vitest';
import { Node } from '../../gen/stageplane/v1/node.js';
import { Run } from '../../gen/stageplane/v1/run.js';
import { compareAnswers } from '../../src/replay/compare-answers.js';
import { compareKernels } from '../../src/replay/compare-kernels.js';
import { judgeComparison } from '../../src/replay/judge-comparison.js';

const run = Run.fromPartial({
  settings: [{ engine: 'llama.cpp' }, { engine: 'llama.cpp' }, { engine: 'llama.cpp' }],
  stages: [2n, 3n, 2n].map((nodeId) => ({ nodeId, nodeName: `node-${nodeId}` })),
});
const node = (nodeId: bigint, build: string) =>
  Node.fromPartial({
    nodeId,
    engines: [
      { name: 'fixture', build: 'f' },
      { name: 'llama.cpp', build },
    ],
  });

describe('kernels', () => {
  it('are the same when every node has this build of the engine', () => {
    const { kind, nodes } = compareKernels(run, [node(2n, 'zen4'), node(3n, 'zen4')], 'zen4');
    expect(kind).toBe('same');
    expect(nodes.map(({ name }) => name)).toEqual(['node-2', 'node-3']);
  });

  it('are different when one node has another, and unknown when one does not say', () => {
    expect(compareKernels(run, [node(2n, 'zen4'), node(3n, 'haswell')], 'zen4').kind).toBe('different');
    expect(compareKernels(run, [node(3n, 'haswell')], 'zen4').kind).toBe('different');
    expect(compareKernels(run, [node(2n, 'zen4')], 'zen4').kind).toBe('unknown');
  });
});

describe('a difference', () => {
  const whole = { text: 'a', tokenIds: [1], textEnds: [1] };
  const same = compareAnswers({ text: 'a', tokenIds: [1], end: 'limit' }, whole);
  const other = compareAnswers({ text: 'b', tokenIds: [2], end: 'limit' }, whole);
  const here = compareKernels(run, [node(2n, 'zen4'), node(3n, 'zen4')], 'zen4');
  const elsewhere = compareKernels(run, [node(2n, 'zen4'), node(3n, 'zen4')], 'haswell');
  const unknown = compareKernels(run, [], 'zen4');

  it.each([
    ['exact', here, 'broken'],
    ['exact', elsewhere, 'no-proof'],
    ['exact', unknown, 'no-proof'],
    ['same-kernels', here, 'expected'],
    ['mixed', here, 'expected'],
  ] as const)('in an %s run is judged by its promise and the kernels', (fidelity, kernels, verdict) => {
    expect(judgeComparison(other, fidelity, kernels)).toBe(verdict);
    expect(judgeComparison(same, fidelity, kernels)).toBe('kept');
  });
});
