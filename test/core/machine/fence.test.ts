import { expect, it } from 'vitest';
import { nodeId } from '../../../src/core/ids.js';
import { beta, running } from './two-stage-run.js';

const DAY = 24 * 60 * 60_000;

it.each([
  ['a lease ends', 'STOPPED', 300_000],
  ['leases never end', 'LOST', 0],
])('where %s, what a node that never returns held is then %s', (_, phase, lease) => {
  const memory = running('', { lease });
  memory.step({ kind: 'session-ended', session: beta, goodbye: false });
  memory.pass(DAY);
  expect(memory.run(1).stages[1]?.phase).toBe(phase);
  memory.step({ kind: 'node-delete-requested', call: 1, nodeId: nodeId(3n) });
  expect(memory.run(1).stages[1]?.phase).toBe('STOPPED');
});
