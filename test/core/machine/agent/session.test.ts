import { describe, expect, it } from 'vitest';
import { HeldStagePhase, type Hello } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { limits } from '../../../../src/core/limits.js';
import type { AgentEffect } from '../../../../src/core/machine/agent/effects.js';
import { Driver, delivery, keyOf, LEASE, rules } from './driver.js';

const A = keyOf(7n, 0);

function helloIn(effects: readonly AgentEffect[]): Hello | undefined {
  const [effect] = effects;
  return effect?.kind === 'send' && effect.message.message?.$case === 'hello'
    ? effect.message.message.value
    : undefined;
}

describe('a session', () => {
  it('begins with Hello and everything that is held', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0, 1, 2, 3]));
    agent.ready(keyOf(7n, 1));
    agent.exit(keyOf(7n, 2), 1);
    agent.stop(keyOf(7n, 3));
    const hello = helloIn(agent.open());
    expect(hello).toMatchObject({
      name: 'alpha',
      instanceId: 'i1',
      processId: 'p1',
      clusterId: 'c1',
      highestEpoch: 1n,
    });
    expect(hello?.held.map(({ stageIndex, phase }) => [stageIndex, phase])).toEqual([
      [0, HeldStagePhase.HELD_STAGE_PHASE_PREPARING],
      [1, HeldStagePhase.HELD_STAGE_PHASE_READY],
      [2, HeldStagePhase.HELD_STAGE_PHASE_FAULTED],
      [3, HeldStagePhase.HELD_STAGE_PHASE_STOPPING],
    ]);
    expect(hello?.held[1]?.footprint).toBeDefined();
    expect(hello?.held[2]?.fault?.logTail).toEqual(['last words']);
  });

  it('writes the identity before anything else, and only when it has changed', () => {
    const agent = new Driver();
    agent.open();
    agent.welcome();
    expect(agent.did()).toEqual(['persist epoch 1', `arm lease ${1000 + LEASE}`, 'arm heartbeat 1000']);
    agent.open();
    agent.welcome();
    expect(agent.did()[0]).not.toContain('persist');
  });

  it('says again what nobody has acknowledged, with the same ids', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.take({ kind: 'stream-ended', session: 1 });
    agent.ready(A);
    expect(agent.did()).toEqual([]);
    agent.exit(A, 1);
    agent.join();
    expect(agent.did()).toContain('send ready 7/0 g1 #1');
    expect(agent.did()).toContain('send fault 7/0 g1 #2');
    agent.acknowledge(1n);
    agent.join();
    expect(agent.did()).not.toContain('send ready 7/0 g1 #1');
    expect(agent.did()).toContain('send fault 7/0 g1 #2');
  });

  it('forgets a stopped stage only when its report is acknowledged', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.stop(A);
    agent.exit(A);
    expect(agent.phase(A)).toBe('STOPPED');
    expect(helloIn(agent.open())?.held).toHaveLength(1);
    agent.welcome();
    agent.acknowledge(1n);
    expect(agent.phase(A)).toBeUndefined();
    expect(agent.state.reports.size).toBe(0);
  });

  it.each([
    ['a lower epoch', { epoch: 1n }, 'a newer orchestrator is in charge'],
    ['another cluster', { clusterId: 'c2', epoch: 9n }, '--rejoin'],
  ])('with %s is broken off and changes nothing', (_, patch, words) => {
    const identity = { instanceId: 'i1', clusterId: 'c1', nodeId: 2n, highestEpoch: 4n };
    const agent = new Driver(rules, identity);
    agent.open();
    agent.welcome(patch);
    expect(agent.effects).toMatchObject([{ kind: 'close-session', why: expect.stringContaining(words) }]);
    expect(agent.state.identity).toEqual(identity);
  });

  it('that is over is not the end of a stage', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.take({ kind: 'stream-ended', session: 1 });
    expect(agent.did()).toEqual([]);
    expect(agent.phase(A)).toBe('PREPARING');
  });

  it('carries at most some log lines in an inventory, so that a Hello fits in one message', () => {
    const stages = 40;
    const agent = new Driver({ ...rules, maxStages: stages });
    agent.join();
    for (let run = 1; run <= stages; run += 1) {
      agent.provision(delivery(BigInt(run), [0]));
      agent.exit(keyOf(BigInt(run), 0), 1);
    }
    const held = helloIn(agent.open())?.held ?? [];
    expect(held).toHaveLength(stages);
    expect(held.filter(({ fault }) => fault?.logTail.length)).toHaveLength(limits.inventoryLogTails);
  });

  it('keeps a bounded number of answers about stages that are not held', () => {
    const agent = new Driver().join();
    for (let run = 1; run <= limits.strayReports + 5; run += 1) agent.stop(keyOf(BigInt(run), 0));
    expect(agent.state.reports.size).toBe(limits.strayReports);
    expect(agent.did()).toEqual([`send stopped ${limits.strayReports + 5}/0 g1 #${limits.strayReports + 5}`]);
  });
});

describe('an agent that leaves', () => {
  it('stops its stages, reports them, and says Goodbye last', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0, 1]));
    agent.take({ kind: 'leave-requested', reason: 'SIGTERM' });
    expect(agent.did()).toEqual([
      'send fault 7/0 g1 #1',
      'stop-worker 7/0 g1',
      'send fault 7/1 g1 #2',
      'stop-worker 7/1 g1',
    ]);
    agent.exit(keyOf(7n, 1));
    expect(agent.did()).toEqual(['send stopped 7/1 g1 #3']);
    agent.exit(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #4', 'send goodbye', 'leave']);
    agent.take({ kind: 'leave-requested', reason: 'again' });
    expect(agent.did()).toEqual([]);
  });

  it('tells the cause only of what was to go on', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0, 1]));
    agent.stop(A);
    agent.exit(keyOf(7n, 1), 1);
    agent.take({ kind: 'leave-requested', reason: 'SIGTERM' });
    expect(agent.did()).toEqual(['send stopped 7/1 g1 #2']);
  });

  it('leaves without a word when there is nobody to hear it', () => {
    const agent = new Driver();
    agent.take({ kind: 'leave-requested', reason: 'SIGTERM' });
    expect(agent.did()).toEqual(['leave']);
  });
});
