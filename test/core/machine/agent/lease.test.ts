import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits.js';
import { Driver, delivery, keyOf, LEASE } from './driver.js';

const A = keyOf(7n, 0);

function beat(agent: Driver): void {
  agent.take({ kind: 'heartbeat-due', usage: [], stages: [] });
}
function answer(agent: Driver, sequence: bigint): void {
  agent.take({ kind: 'heartbeat-acknowledged', session: agent.session, sequence });
}

describe('a heartbeat', () => {
  it('says what ready stages hold, and nothing of others', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0, 1, 2]));
    for (const index of [1, 2]) agent.ready(keyOf(7n, index));
    agent.stop(keyOf(7n, 2));
    const usage = { heldSessions: 2, heldTokens: 30n };
    const stages = [0, 1, 2, 3].map((index) => ({ ...keyOf(7n, index), usage, residentBytes: 0n }));
    const [sent] = agent.take({ kind: 'heartbeat-due', usage: [], stages });
    expect(sent).toMatchObject({ message: { message: { value: { stages: [{ stageIndex: 1, usage }] } } } });
  });
});

describe('the lease', () => {
  it('runs from the sending of the last acknowledged heartbeat, not from its answer', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.now = 6000;
    beat(agent);
    expect(agent.did()).toEqual(['send heartbeat 1', 'arm heartbeat 11000']);
    agent.now = 9000;
    answer(agent, 1n);
    expect(agent.did()).toEqual([`arm lease ${6000 + LEASE}`]);
    agent.now = 6000 + LEASE - 1;
    agent.take({ kind: 'lease-due' });
    expect(agent.did()).toEqual([]);
    agent.now += 1;
    agent.take({ kind: 'lease-due' });
    expect(agent.did()).toEqual(['close-session', 'stop-worker 7/0 g1']);
  });

  it('counts from the Hello before the first heartbeat', () => {
    const agent = new Driver();
    agent.open();
    agent.now = 5000;
    agent.welcome();
    expect(agent.did()).toContain(`arm lease ${1000 + LEASE}`);
  });

  it('is not renewed by a heartbeat that nobody answered', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.now = 6000;
    beat(agent);
    agent.now = 1000 + LEASE;
    agent.take({ kind: 'lease-due' });
    expect(agent.phase(A)).toBe('STOPPING');
  });

  it('that ended in sleep ends before a message that slept along is acted on', () => {
    const agent = new Driver().join();
    agent.now = 1000 + LEASE;
    agent.provision(delivery(7n, [0]));
    expect(agent.did()).toEqual(['close-session']);
    expect(agent.state.stages.size).toBe(0);
  });

  it('of 0 never ends', () => {
    const agent = new Driver();
    agent.open();
    agent.welcome({ lease: 0 });
    agent.provision(delivery(7n, [0]));
    agent.now = Number.MAX_SAFE_INTEGER;
    agent.take({ kind: 'lease-due' });
    expect(agent.did()).toEqual([]);
  });

  it('may be followed by a new session that says what was stopped', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.now = 1000 + LEASE;
    agent.take({ kind: 'lease-due' });
    agent.exit(A);
    agent.join();
    expect(agent.did()).toContain('send fault 7/0 g1 #1');
    expect(agent.did()).toContain('send stopped 7/0 g1 #2');
    agent.provision(delivery(7n, [0], { generation: 2, id: 1n }));
    expect(agent.did()).toEqual(['send ack 1', 'start-worker 7/0 g2']);
  });
});

describe('heartbeats', () => {
  it('that are never answered end the session', () => {
    const agent = new Driver().join();
    for (let count = 0; count < limits.heartbeatsUnanswered; count += 1) beat(agent);
    expect(agent.did()).toContain(`send heartbeat ${limits.heartbeatsUnanswered}`);
    beat(agent);
    expect(agent.did()).toEqual(['close-session']);
  });

  it('count anew in each session', () => {
    const agent = new Driver().join();
    beat(agent);
    agent.join();
    beat(agent);
    expect(agent.did()[0]).toBe('send heartbeat 1');
    answer(agent, 7n);
    expect(agent.state.ignoredMessages).toBe(1);
  });
});
