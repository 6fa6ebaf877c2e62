import { describe, expect, it } from 'vitest';
import type { ProvisionDelivery } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { StageFaultReason } from '../../../../gen/stageplane/v1/run.js';
import type { AgentEffect } from '../../../../src/core/machine/agent/effects.js';
import { Driver, delivery, keyOf } from './driver.js';

const A = keyOf(7n, 0);

function refusal(effects: readonly AgentEffect[]): string | undefined {
  for (const effect of effects) {
    if (effect.kind !== 'send' || effect.message.message?.$case !== 'nack') continue;
    const status = effect.message.message.value.status;
    return status && `${StageFaultReason[status.reason].replace('STAGE_FAULT_REASON_', '')}: ${status.message}`;
  }
  return undefined;
}

describe('a provision', () => {
  it('is acknowledged and starts one worker per stage', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0, 3]));
    expect(agent.did()).toEqual(['send ack 1', 'start-worker 7/0 g1', 'start-worker 7/3 g1']);
    expect(agent.phase(A)).toBe('PREPARING');
  });

  it('that is known is acknowledged again and starts nothing', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.provision(delivery(7n, [0], { id: 2n }), [{ kind: 'refused', message: 'the file is gone by now' }]);
    expect(agent.did()).toEqual(['send ack 2']);
  });

  it('starts only what is new of a delivery that is known in part', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.provision(delivery(7n, [0, 1], { id: 2n }));
    expect(agent.did()).toEqual(['send ack 2', 'start-worker 7/1 g1']);
  });

  it('of a newer generation waits until the older worker is reaped (I3)', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.provision(delivery(7n, [0], { id: 2n, generation: 2 }));
    expect(agent.did()).toEqual(['send ack 2', 'stop-worker 7/0 g1']);
    agent.exit(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #1', 'start-worker 7/0 g2']);
  });

  it('of a third generation ends a second one that never started', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.provision(delivery(7n, [0], { id: 2n, generation: 2 }));
    agent.provision(delivery(7n, [0], { id: 3n, generation: 3 }));
    expect(agent.did()).toEqual(['send ack 3', 'send stopped 7/0 g2 #1']);
    agent.exit(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #2', 'start-worker 7/0 g3']);
  });

  it('with a higher epoch is written down before it is acknowledged (I5)', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0], { epoch: 4n }));
    expect(agent.did()).toEqual(['persist epoch 4', 'send ack 1', 'start-worker 7/0 g1']);
  });

  const held = delivery(7n, [0], { generation: 3 });
  const refused: [string, ProvisionDelivery, string][] = [
    [
      'another provision for the same generation',
      delivery(7n, [0], { generation: 3, threads: 9 }),
      'CONFLICTING_DELIVERY',
    ],
    ['a lower generation', delivery(7n, [0], { generation: 2 }), 'STALE_GENERATION'],
    ['a lower epoch', delivery(8n, [0], { epoch: 0n }), 'STALE_EPOCH'],
    ['a lower epoch, even when it is known', { ...held, epoch: 0n }, 'STALE_EPOCH'],
    ['more stages than the node takes', delivery(8n, [0, 1, 2, 3]), 'NODE_FULL'],
    ['an engine that is not offered', delivery(8n, [0], { engine: 'magic' }), 'ENGINE_UNAVAILABLE'],
    ['another node', delivery(8n, [0], { node: 3n }), 'INVALID_DELIVERY'],
    ['no stage', delivery(8n, []), 'INVALID_DELIVERY'],
    ['a stage twice', delivery(8n, [1, 1]), 'INVALID_DELIVERY'],
    ['a stage beyond the count', delivery(8n, [8]), 'INVALID_DELIVERY'],
    ['generation 0', delivery(8n, [0], { generation: 0 }), 'INVALID_DELIVERY'],
    [
      'two runs',
      { ...delivery(8n, [0]), stages: [...delivery(8n, [0]).stages, ...delivery(9n, [1]).stages] },
      'INVALID_DELIVERY',
    ],
  ];
  it.each(refused)('is refused whole: %s', (_, message, reason) => {
    const agent = new Driver().join();
    agent.provision(held);
    const before = agent.state.stages;
    const effects = agent.provision(message);
    expect(refusal(effects)).toContain(`${reason}: `);
    expect(agent.did()).toEqual(['send nack 1']);
    expect(agent.state.stages).toEqual(before);
  });

  it('is refused when its threads and those of other stages pass the cores, by an engine that computes with them', () => {
    const agent = new Driver();
    agent.cores = 4;
    agent.engines = ['fixture', 'llama.cpp'];
    agent.join();
    const llama = (run: bigint, threads: number, generation = 1) =>
      agent.provision(delivery(run, [0], { engine: 'llama.cpp', threads, generation }));
    llama(7n, 3);
    expect(refusal(llama(8n, 2))).toBe(
      'NODE_FULL: node "alpha" has 4 cores, its stages compute with 3 threads, and 2 more would pass that: ' +
        'stop a run, ask for fewer threads or use another node',
    );
    agent.provision(delivery(9n, [0], { threads: 9 }));
    expect(agent.did()).toContain('start-worker 9/0 g1');
    // Takes the place of generation 1.
    llama(7n, 4, 2);
    expect(agent.did()).toContain('send ack 1');
    agent.stop(keyOf(7n, 0, 2));
    agent.exit(keyOf(7n, 0, 1));
    llama(8n, 4);
    expect(agent.did()).toContain('send ack 1');
  });

  it('is refused whole when one model is missing', () => {
    const agent = new Driver().join();
    const effects = agent.provision(delivery(7n, [0, 1]), [
      { kind: 'found', path: '/m' },
      { kind: 'refused', message: 'model x.gguf was not found under /models' },
    ]);
    expect(refusal(effects)).toBe('MODEL_NOT_FOUND: model x.gguf was not found under /models');
    expect(agent.state.stages.size).toBe(0);
  });

  it('of a session that has been replaced changes nothing (I6)', () => {
    const agent = new Driver().join();
    agent.join();
    const old = { kind: 'provision-delivered', session: 1, delivery: delivery(7n, [0]), models: [] } as const;
    expect(agent.take(old)).toEqual([]);
    expect(agent.state.ignoredMessages).toBe(1);
  });

  it('is refused while the agent leaves', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.take({ kind: 'leave-requested', reason: 'SIGTERM' });
    expect(refusal(agent.provision(delivery(8n, [0])))).toContain('shutting down');
  });
});

describe('a stop', () => {
  it('of a running stage stops the worker, and says `stopped` only when it is reaped', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.ready(A);
    agent.stop(A);
    expect(agent.did()).toEqual(['stop-worker 7/0 g1']);
    agent.stop(A);
    expect(agent.did()).toEqual([]);
    agent.exit(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #2']);
  });

  it('of a stage that is not held answers `stopped`', () => {
    const agent = new Driver().join();
    agent.stop(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #1']);
  });

  it('of a stage that has stopped says the same report again', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.stop(A);
    agent.exit(A);
    agent.stop(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #1']);
  });

  it('of an old generation leaves the newer one alone', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0], { generation: 2 }));
    agent.stop(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #1']);
    expect(agent.phase(keyOf(7n, 0, 2))).toBe('PREPARING');
  });

  it('of an old epoch is ignored (I5)', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0], { epoch: 5n }));
    agent.stop(A, 4n);
    expect(agent.did()).toEqual([]);
    expect(agent.phase(A)).toBe('PREPARING');
  });

  it('of a faulted stage whose process is gone is answered at once', () => {
    const agent = new Driver().join();
    agent.provision(delivery(7n, [0]));
    agent.exit(A, 1);
    agent.stop(A);
    expect(agent.did()).toEqual(['send stopped 7/0 g1 #2']);
  });
});
