import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runId } from '../../../src/core/ids.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { HonestAgent } from './honest-agent.js';
import { assertInvariants, Watchdog } from './invariants.js';
import { samplePlan } from './samples.js';
import { storedFrom, WorldInMemory } from './world-in-memory.js';

const verbs = [
  'handle',
  'handle',
  'handle',
  'ready',
  'ready',
  'fault',
  'break',
  'connect',
  'crash',
  'create',
  'stop',
  'pass',
  'restart',
  'cordon',
] as const;
type Step = { verb: (typeof verbs)[number]; agent: number; seconds: number; run: number };

const steps = fc.array(
  fc.record({
    verb: fc.constantFrom(...verbs),
    agent: fc.nat({ max: 2 }),
    seconds: fc.integer({ min: 1, max: 70 }),
    run: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 5, maxLength: 80 },
);

/** Three honest agents behind breaking streams, one orchestrator that restarts, operators at the worst moment. */
class Walk {
  readonly memory = new WorldInMemory();
  readonly watchdog = new Watchdog();
  readonly agents = ['alpha', 'beta', 'gamma'].map((name) => new HonestAgent(name, () => 'cluster-a'));
  /** Phases and outcomes that some step led to. */
  readonly reached = new Set<string>();
  private requests = 0;

  take({ verb, agent: index, seconds, run }: Step): void {
    const agent = this.agents[index]!;
    switch (verb) {
      case 'handle':
        return this.post(agent.handleOne());
      case 'ready':
      case 'fault':
        return this.post(agent.progress(verb === 'fault'));
      case 'break':
        return this.post(agent.breakStream());
      case 'connect':
        return this.post(agent.connect());
      case 'crash':
        return this.post(agent.crash());
      case 'create':
        return this.create(run);
      case 'stop':
        return this.post([{ kind: 'run-stop-requested', call: 1, runId: runId(BigInt(run)) }]);
      case 'cordon':
        return this.cordon(index, seconds % 2 === 0);
      case 'pass':
        return this.memory.pass(seconds * 1000, () => this.observe());
      case 'restart':
        return this.restart();
    }
  }

  /** Everything works again: connect all, handle all, until nobody has anything left to say. */
  heal(): void {
    for (let round = 0; round < 400; round++) {
      for (const agent of this.agents) {
        this.post(agent.connect());
        this.post(agent.handleOne());
        this.post(agent.progress(false));
      }
    }
    // Stops that were never confirmed, graces, leases.
    this.memory.pass(400_000, () => this.observe());
    for (let round = 0; round < 100; round++) {
      for (const agent of this.agents) this.post([...agent.connect(), ...agent.handleOne()]);
    }
  }

  private post(events: ClusterEvent[]): void {
    if (events.length === 0) return;
    this.memory.step(...events);
    this.observe();
  }

  private observe(): void {
    for (const effect of this.memory.effects) for (const agent of this.agents) agent.take(effect);
    for (const run of this.memory.world.runs.values()) {
      for (const name of [run.phase, `${run.outcome}`, ...run.stages.map(({ phase }) => phase)]) this.reached.add(name);
    }
    assertInvariants(this.memory.world);
    this.watchdog.observe(this.memory.world, this.memory.turn!.events);
  }

  private create(stages: number): void {
    const nodes = [...this.memory.world.nodes.keys()];
    if (nodes.length === 0) return;
    const ids = Array.from({ length: stages }, (_, at) => nodes[at % nodes.length]!);
    const requestId = `request-${++this.requests}`;
    this.post([{ kind: 'run-requested', call: 1, request: { requestId, digest: requestId, plan: samplePlan(ids) } }]);
  }

  private cordon(index: number, cordoned: boolean): void {
    const id = [...this.memory.world.nodes.keys()][index];
    if (id !== undefined) this.post([{ kind: 'node-cordon-requested', call: 1, nodeId: id, cordoned }]);
  }

  private restart(): void {
    const before = storedFrom(this.memory.world);
    this.memory.restart();
    for (const agent of this.agents) agent.breakStream();
    const after = storedFrom(this.memory.world);
    expect({ ...after, cluster: { ...after.cluster, epoch: before.cluster.epoch } }).toEqual(before);
  }
}

describe('random walks', () => {
  it('keep the invariants at every step, and settle once faults stop (I1, I2, I8, I11, I12, I17, I18)', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(steps, (walked) => {
        const walk = new Walk();
        for (const agent of walk.agents)
          walk.take({ verb: 'connect', agent: walk.agents.indexOf(agent), seconds: 0, run: 0 });
        for (const step of walked) walk.take(step);
        walk.heal();
        for (const run of walk.memory.world.runs.values()) {
          expect(['RUNNING', 'DONE']).toContain(run.phase);
        }
        for (const name of walk.reached) reached.add(name);
        for (const agent of walk.agents) {
          for (const stage of agent.held.values()) {
            const run = walk.memory.world.runs.get(runId(stage.runId));
            expect(run?.phase, `${agent.name} still holds ${stage.runId}/${stage.stageIndex}`).toBe('RUNNING');
          }
        }
      }),
      { numRuns: 300 },
    );
    // A walk that never gets anywhere interesting proves nothing.
    for (const phase of ['SENT', 'ACCEPTED', 'READY', 'STOPPING', 'LOST', 'STOPPED', 'RUNNING', 'DONE', 'FAULTED']) {
      expect(reached, `no walk reached ${phase}`).toContain(phase);
    }
  }, 120_000);
});
