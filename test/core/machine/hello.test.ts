import { describe, expect, it } from 'vitest';
import type { Hello } from '../../../gen/stageplane/v1/node_agent_service.js';
import { nodeId, sessionId } from '../../../src/core/ids.js';
import { limits } from '../../../src/core/limits.js';
import type { Effect } from '../../../src/core/machine/effects.js';
import { sampleHello, samplePlan } from './samples.js';
import { WorldInMemory } from './world-in-memory.js';

let sessions = 0;

/** Says Hello in a new session; gives what the agent hears. */
function hello(memory: WorldInMemory, name: string, change: Partial<Hello> = {}): Effect[] {
  const session = sessionId(`s${++sessions}`);
  return memory.step({ kind: 'hello-received', session, hello: sampleHello(name, change) });
}

function refusal(effects: readonly Effect[]) {
  const closed = effects.find((effect) => effect.kind === 'close-session');
  return closed?.kind === 'close-session' ? closed.why : undefined;
}

function welcome(effects: readonly Effect[]) {
  for (const effect of effects) {
    if (effect.kind === 'send' && effect.message.message?.$case === 'welcome') return effect.message.message.value;
  }
  return undefined;
}

describe('a Hello', () => {
  it.each<[string, Partial<Hello>, string, RegExp]>([
    [
      'of another protocol',
      { protocolMin: 2, protocolMax: 3 },
      'PROTOCOL_MISMATCH',
      /speaks protocol 2 to 3.*install matching/,
    ],
    ['of another cluster', { clusterId: 'cluster-b' }, 'FOREIGN_CLUSTER', /belongs to cluster cluster-b.*--rejoin/],
    ['with an epoch that no history reaches', { highestEpoch: 1n << 31n }, 'EPOCH_OUT_OF_RANGE', /--rejoin/],
    ['with a name that steers a terminal', { name: '\u001b[2J' }, 'INVALID_NAME', /is no node name; use at most 63/],
    ["with the orchestrator's own id", { pinnedNodeId: 1n }, 'NODE_ID_TAKEN', /node id 1 is the orchestrator itself/],
    ['with a pinned id out of range', { pinnedNodeId: 1n << 62n }, 'NODE_ID_OUT_OF_RANGE', /below 2\^62/],
  ])('%s is refused with what to do', (_what, change, reason, sentence) => {
    const memory = new WorldInMemory();
    expect(refusal(hello(memory, 'alpha', change))).toMatchObject({ reason, message: expect.stringMatching(sentence) });
    expect(memory.world.nodes.size).toBe(0);
    expect(memory.world.sessions.size).toBe(0);
  });

  it('gets the next id, a pinned one if it asks, and never one that was given before', () => {
    const memory = new WorldInMemory();
    expect(welcome(hello(memory, 'alpha'))?.nodeId).toBe(2n);
    expect(welcome(hello(memory, 'beta', { pinnedNodeId: 9n }))?.nodeId).toBe(9n);
    expect(welcome(hello(memory, 'gamma'))?.nodeId).toBe(10n);
    expect(refusal(hello(memory, 'delta', { pinnedNodeId: 9n }))?.message).toMatch(
      /node id 9 belongs to another agent/,
    );
    expect(refusal(hello(memory, 'alpha', { pinnedNodeId: 9n }))?.message).toMatch(/"alpha" already is node 2, not 9/);
  });

  it('cannot pin the id of a node that was deleted, and others pin theirs in any order', () => {
    const memory = new WorldInMemory();
    const deleteNode = (id: bigint) => memory.step({ kind: 'node-delete-requested', call: 1, nodeId: nodeId(id) });
    const pin = (name: string, id: bigint) => hello(memory, name, { pinnedNodeId: id });
    const left = pin('alpha', 5n).find((effect) => effect.kind === 'send');
    memory.step({ kind: 'session-ended', session: left!.session, goodbye: true });
    expect(welcome(pin('beta', 3n))?.nodeId).toBe(3n);
    deleteNode(5n);
    memory.restart();
    expect(refusal(pin('gamma', 5n))).toMatchObject({
      reason: 'NODE_ID_TAKEN',
      message: 'node id 5 may have been that of a node that is gone: leave out --node-id, or name one from 6 on',
    });
    expect(welcome(pin('gamma', 6n))?.nodeId).toBe(6n);
    expect(welcome(hello(memory, 'delta'))?.nodeId).toBe(7n);
  });

  it('of a known agent keeps its id, its cordon, and takes a new name', () => {
    const memory = new WorldInMemory();
    hello(memory, 'alpha');
    memory.step({ kind: 'node-cordon-requested', call: 1, nodeId: 2n as never, cordoned: true });
    const renamed = { ...sampleHello('alpha'), name: 'omega' };
    expect(welcome(hello(memory, 'alpha', renamed))?.nodeId).toBe(2n);
    expect(memory.world.nodes.get(2n as never)).toMatchObject({ name: 'omega', cordoned: true });
    expect(welcome(hello(memory, 'alpha', { instanceId: 'another' }))?.nodeId).toBe(3n);
  });

  it('with a higher epoch makes an older copy step over it before it says anything (I5)', () => {
    const memory = new WorldInMemory();
    const heard = welcome(hello(memory, 'alpha', { clusterId: 'cluster-a', highestEpoch: 41n }));
    expect(heard?.epoch).toBe(1041n);
    // An id later for each thousandth of an epoch, and for the node that has just joined.
    const cluster = { epoch: 1041n, nextRunId: 1_040_001n, nextNodeId: 1_040_003n };
    expect(memory.world.cluster).toMatchObject(cluster);
    expect(memory.world.cluster.revision).toBeGreaterThan(1_040_000n);
  });

  it('with the very epoch, of a node that this process has not welcomed, does the same: two lives had that epoch', () => {
    const memory = new WorldInMemory();
    hello(memory, 'alpha');
    memory.restart();
    const mine = { clusterId: 'cluster-a', highestEpoch: 2n };
    expect(welcome(hello(memory, 'alpha', mine))?.epoch).toBe(1002n);
    // Now it knows the epoch from us, and may say so as often as it likes.
    for (const processId of ['p1', 'p1']) {
      memory.pass(20_000);
      expect(welcome(hello(memory, 'alpha', { ...mine, highestEpoch: 1002n, processId }))?.epoch).toBe(1002n);
    }
    // Of a node that is unknown it says nothing: it may have been deleted.
    expect(welcome(hello(memory, 'beta', { clusterId: 'cluster-a', highestEpoch: 1002n }))?.epoch).toBe(1002n);
  });

  it('with a run that was never created makes its ids step over, also those of a backup at the same epoch (I3)', () => {
    const memory = new WorldInMemory();
    const held = [{ runId: 7n, stageIndex: 0, generation: 1, phase: 2, fault: undefined, footprint: undefined }];
    hello(memory, 'alpha', { held });
    expect(memory.world.cluster.nextRunId).toBe(1n);
    hello(memory, 'beta', { held, clusterId: 'cluster-a', highestEpoch: 1n });
    expect(memory.world.cluster).toMatchObject({ epoch: 1001n, nextRunId: 1_000_001n });
    hello(memory, 'beta', { held, clusterId: 'cluster-a', highestEpoch: 1001n });
    expect(memory.world.cluster).toMatchObject({ epoch: 1001n, nextRunId: 1_000_001n });
  });

  it('beyond the largest pool is refused, and a known agent still comes back', () => {
    const memory = new WorldInMemory();
    hello(memory, 'alpha');
    const [known] = memory.world.nodes.values();
    for (let id = 3n; memory.world.nodes.size < limits.nodes; id++) {
      memory.world.nodes.set(id as never, { ...known!, nodeId: id as never, name: `n${id}`, instanceId: `i${id}` });
    }
    expect(refusal(hello(memory, 'beta'))?.reason).toBe('TOO_MANY_NODES');
    expect(welcome(hello(memory, 'alpha'))?.nodeId).toBe(2n);
  });
});

describe('requests', () => {
  it('whose run is gone are forgotten, oldest first, beyond their limit (I16)', () => {
    const memory = new WorldInMemory();
    hello(memory, 'alpha');
    for (let id = 0; id < limits.requestRecords; id++) {
      const requestId = `spent-${id}`;
      memory.world.requests.set(requestId, { requestId, digest: '', runId: BigInt(id + 1000) as never });
    }
    const request = { requestId: 'new', digest: 'new', plan: samplePlan([2n]) };
    memory.step({ kind: 'run-requested', call: 1, request });
    expect(memory.world.requests.size).toBe(limits.requestRecords);
    expect(memory.world.requests.has('spent-0')).toBe(false);
    expect(memory.world.requests.has('new')).toBe(true);
  });
});
