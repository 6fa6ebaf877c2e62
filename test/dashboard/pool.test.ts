import { expect, test } from 'vitest';
import { Device, Node, NodeConditionType as Type } from '../../gen/stageplane/v1/node.js';
import { deviceView } from '../../src/dashboard/pool/device-view.js';
import { nodeView } from '../../src/dashboard/pool/node-view.js';

const GIB = 2n ** 30n;
const device = Device.fromPartial({ deviceId: 'cuda:0', name: 'RTX', totalBytes: 24n * GIB, freeBytes: 12n * GIB });
const now = new Date('2026-11-30T10:00:10Z');

function sharesOf({ parts }: ReturnType<typeof deviceView>) {
  return Object.fromEntries(parts.map(({ kind, share }) => [kind, Math.round(share * 24)]));
}

test('a bar says whose memory it is: held, promised beside it, of other programs, and what is left', () => {
  const reservation = { deviceId: 'cuda:0', reservedBytes: 10n * GIB, residentBytes: 4n * GIB };
  expect(sharesOf(deviceView(device, reservation))).toEqual({ held: 4, promised: 6, other: 8, free: 6 });
  expect(deviceView(device, reservation).summary).toBe('6.0 GiB free of 24.0 GiB');
  expect(sharesOf(deviceView(device, undefined))).toEqual({ held: 0, promised: 0, other: 12, free: 12 });
});

test('the parts of a bar are never more than the whole, whatever an agent says', () => {
  const absurd = { deviceId: 'cuda:0', reservedBytes: 2n ** 63n, residentBytes: 2n ** 62n };
  const { parts } = deviceView({ ...device, freeBytes: 30n * GIB }, absurd);
  expect(parts.every(({ share }) => share >= 0)).toBe(true);
  expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  expect(deviceView({ ...device, totalBytes: 0n }, absurd)).toMatchObject({
    parts: [],
    summary: expect.stringContaining('size unknown, 8.0 EiB reserved'),
  });
});

test('a node is told in one word, with the reason when it takes no stage', () => {
  const condition = (type: Type, met: boolean, message = '') => ({ type, met, message });
  const node = Node.fromPartial({
    nodeId: 2n,
    name: 'al\u202epha',
    conditions: [
      condition(Type.NODE_CONDITION_TYPE_CONNECTED, true),
      condition(Type.NODE_CONDITION_TYPE_RECONCILED, true),
      condition(Type.NODE_CONDITION_TYPE_SCHEDULABLE, false, 'node "alpha" is drained'),
      condition(Type.NODE_CONDITION_TYPE_DRAINING, true),
    ],
    descriptor: { operatingSystem: 'linux', architecture: 'x64', physicalCores: 1, labels: { room: 'lab' } },
    lastContact: new Date('2026-11-30T10:00:00Z'),
    liveStages: 1,
    drain: { deadline: undefined, runs: [{ runId: 7n, stages: 1, waits: 'waits until its prompt is answered' }] },
  });
  expect(nodeView(node, now)).toMatchObject({
    name: 'al\\u{202e}pha',
    state: { tone: 'busy', word: 'draining' },
    why: 'node "alpha" is drained',
    machine: 'linux x64, 1 core',
    heard: '10s ago',
    labels: ['room=lab'],
    drain: {
      title: 'Draining: 1 stage left',
      runs: [{ runId: '7', text: '1 stage: waits until its prompt is answered' }],
    },
  });
  expect(nodeView(Node.fromPartial({ name: 'b' }), now)).toMatchObject({
    state: { tone: 'away', word: 'away' },
    machine: 'cores unknown',
    heard: 'not since the orchestrator started',
  });
});

test('what is offered for a node is what makes sense as it is', () => {
  const offered = (met: readonly Type[], more: Partial<Node> = {}) => {
    const conditions = met.map((type) => ({ type, met: true, message: '' }));
    return [...nodeView(Node.fromPartial({ conditions, ...more }), now).offers];
  };
  const connected = Type.NODE_CONDITION_TYPE_CONNECTED;
  expect(offered([connected])).toEqual(['cordon', 'drain']);
  expect(offered([connected, Type.NODE_CONDITION_TYPE_CORDONED])).toEqual(['uncordon', 'drain']);
  const draining = [connected, Type.NODE_CONDITION_TYPE_DRAINING];
  const drain = { deadline: undefined, runs: [] };
  expect(offered(draining, { drain, liveStages: 1 })).toEqual(['uncordon', 'drain']);
  expect(offered(draining, { drain, liveStages: 0 })).toEqual(['uncordon']);
  expect(offered([])).toEqual(['cordon', 'drain', 'forget']);
});
