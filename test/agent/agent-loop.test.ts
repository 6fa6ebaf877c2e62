import { pino } from 'pino';
import { expect, it } from 'vitest';
import { AgentLoop } from '../../src/agent/agent-loop.js';
import { millis } from '../../src/core/ids.js';
import type { AgentEffect } from '../../src/core/machine/agent/effects.js';
import type { AgentEvent } from '../../src/core/machine/agent/events.js';

const welcome: AgentEvent = {
  kind: 'welcomed',
  session: 1,
  welcome: {
    clusterId: 'c1',
    nodeId: 2n,
    sessionId: 's',
    epoch: 3n,
    heartbeatPeriodMillis: 5000,
    leaseTtlMillis: 0n,
    protocol: 1,
  },
};

function loopOn(disk: (epoch: bigint) => string | undefined) {
  const done: string[] = [];
  const loop = new AgentLoop({
    identity: { instanceId: 'i', clusterId: '', nodeId: 0n, highestEpoch: 0n },
    rules: { name: 'alpha', processId: 'p', pinnedNodeId: 0n, maxStages: 4, stepMillis: 60_000 },
    now: () => millis(0),
    persist: ({ highestEpoch }) => {
      done.push(`disk ${highestEpoch}`);
      return disk(highestEpoch);
    },
    perform: (effect) => done.push(effect.kind),
    logger: pino({ level: 'silent' }),
  });
  const descriptor = {
    machine: '',
    operatingSystem: '',
    architecture: '',
    physicalCores: 0,
    agentVersion: '',
    devices: [],
    labels: {},
  };
  loop.take({ kind: 'stream-opened', session: 1, offer: { engines: [], descriptor } });
  return { loop, done };
}

it('has the identity on disk before anything of the turn is done (I5)', () => {
  const { loop, done } = loopOn(() => undefined);
  loop.take(welcome);
  expect(done.slice(0, 2)).toEqual(['send', 'disk 3']);
  expect(done).toContain('arm');
  expect(loop.state.identity.highestEpoch).toBe(3n);
});

it('gives the session up when the disk does not take it, and has learned nothing', () => {
  const { loop, done } = loopOn(() => 'the disk is full');
  loop.take(welcome);
  expect(done).toEqual(['send', 'disk 3', 'close-session']);
  expect(loop.state.identity).toMatchObject({ clusterId: '', highestEpoch: 0n });
  expect(loop.state.contact.kind).toBe('greeted');
});

it('takes events that come while effects are performed in their turn', () => {
  const order: string[] = [];
  const loop: AgentLoop = new AgentLoop({
    identity: { instanceId: 'i', clusterId: '', nodeId: 0n, highestEpoch: 0n },
    rules: { name: 'alpha', processId: 'p', pinnedNodeId: 0n, maxStages: 4, stepMillis: 60_000 },
    now: () => millis(0),
    persist: () => undefined,
    perform: (effect: AgentEffect) => {
      order.push(`${effect.kind} begins`);
      if (effect.kind === 'leave') loop.take({ kind: 'leave-requested', reason: 'again' });
      order.push(`${effect.kind} ends`);
    },
    logger: pino({ level: 'silent' }),
  });
  loop.take({ kind: 'leave-requested', reason: 'now' });
  expect(order).toEqual(['leave begins', 'leave ends']);
});
