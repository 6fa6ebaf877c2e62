import { expect, it } from 'vitest';
import { sessionId } from '../../../src/core/ids.js';
import { limits } from '../../../src/core/limits.js';
import type { Effect } from '../../../src/core/machine/effects.js';
import { readsOf } from '../reads-of.js';
import { sampleFacts, sampleHello, samplePlan } from './samples.js';
import { WorldInMemory } from './world-in-memory.js';

const count = 2 * limits.nodesPerTurn + 5;
const nodeIds = Array.from({ length: count }, (_, at) => BigInt(at + 2));

const provisioned = (effects: readonly Effect[]) =>
  effects.flatMap((effect) =>
    effect.kind === 'send' && effect.message.message?.$case === 'provision' ? [effect.session] : [],
  );

function ofNodes(ids: readonly bigint[]): WorldInMemory {
  const memory = new WorldInMemory();
  for (const id of ids) {
    memory.step({ kind: 'hello-received', session: sessionId(`${id}`), hello: sampleHello(`node-${id}`) });
  }
  return memory;
}

const request = {
  requestId: 'r',
  digest: 'r',
  plan: { ...samplePlan(nodeIds), facts: { ...sampleFacts, numLayers: count } },
};

it('sends to so many nodes a turn, and to each of them once', () => {
  const memory = ofNodes(nodeIds);
  const turns = [memory.step({ kind: 'run-requested', call: 1, request })];
  while (memory.world.undispatched.length > 0) turns.push(memory.step());
  expect(turns.map((effects) => provisioned(effects).length)).toEqual([limits.nodesPerTurn, limits.nodesPerTurn, 5]);
  expect(new Set(turns.flatMap(provisioned)).size).toBe(count);
  expect(provisioned(memory.step())).toEqual([]);
});

it('looks at little of a plan but what it sends', () => {
  const readsOfLastTurn = (count: number) => {
    const ids = Array.from({ length: count }, (_, at) => BigInt(at + 2));
    const memory = ofNodes(ids);
    const plan = { ...samplePlan(ids), facts: { ...sampleFacts, numLayers: count } };
    memory.step({ kind: 'run-requested', call: 1, request: { ...request, plan } });
    while (memory.world.undispatched.length > limits.nodesPerTurn) memory.step();
    const run = memory.run(1);
    return readsOf(structuredClone(run.plan), (watched) => {
      memory.world.runs.set(run.runId, { ...run, plan: watched });
      memory.step();
    });
  };
  // Each of the two sends as many stages, of four times as large a plan.
  expect(readsOfLastTurn(8 * limits.nodesPerTurn) / readsOfLastTurn(2 * limits.nodesPerTurn)).toBeLessThan(2);
});

it('owes nothing to a node that went away between two turns, and what it needs when it is back', () => {
  const memory = ofNodes(nodeIds);
  memory.step({ kind: 'run-requested', call: 1, request });
  const last = `${nodeIds.at(-1)}`;
  memory.step({ kind: 'session-ended', session: sessionId(last), goodbye: false });
  const sent: string[] = [];
  while (memory.world.undispatched.length > 0) sent.push(...provisioned(memory.step()));
  expect(sent).not.toContain(last);
  memory.step({ kind: 'hello-received', session: sessionId('again'), hello: sampleHello(`node-${last}`) });
  expect(provisioned(memory.effects)).toEqual(['again']);
});

it('stops a stage that was not sent yet when its run is stopped between two turns', () => {
  const memory = ofNodes(nodeIds);
  memory.step({ kind: 'run-requested', call: 1, request });
  const effects = [...memory.step({ kind: 'run-stop-requested', call: 2, runId: memory.run(1).runId })];
  while (memory.world.undispatched.length > 0) effects.push(...memory.step());
  expect(provisioned(effects)).toEqual([]);
  const phases = memory.run(1).stages.map(({ phase }) => phase);
  expect(new Set(phases)).toEqual(new Set(['STOPPING', 'STOPPED']));
  const stopped = effects.filter((effect) => effect.kind === 'send' && effect.message.message?.$case === 'stop');
  expect(stopped).toHaveLength(phases.filter((phase) => phase === 'STOPPING').length);
});
