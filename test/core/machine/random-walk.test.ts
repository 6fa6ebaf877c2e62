import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import { RestartMode, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { type NodeId, runId } from '../../../src/core/ids.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { HonestAgent } from './honest-agent.js';
import { HonestEndpoints } from './honest-endpoints.js';
import { assertInvariants, Watchdog } from './invariants.js';
import { samplePlan } from './samples.js';
import { storedFrom, WorldInMemory } from './world-in-memory.js';

// biome-ignore format: one line per kind of event
const verbs = [
  'handle', 'handle', 'handle-all', 'handle-all',
  'ready', 'ready', 'ready', 'wait', 'fault',
  'endpoint-ready', 'endpoint-ready', 'endpoint-lost', 'answer', 'answer',
  'break', 'connect', 'crash', 'create', 'create', 'stop', 'pass', 'restart', 'cordon', 'drain', 'delete-node',
] as const;
type Step = { verb: (typeof verbs)[number]; agent: number; seconds: number; run: number };

const steps = fc.array(
  fc.record({
    verb: fc.constantFrom(...verbs),
    agent: fc.nat({ max: 2 }),
    seconds: fc.integer({ min: 1, max: 70 }),
    run: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 40, maxLength: 100 },
);

/** Phases, outcomes and reasons that some walk must come to. */
const interesting = [
  ...['generation 2', 'remnant', 'attempt refused'],
  ...['SENT', 'ACCEPTED', 'LOADING', 'READY', 'STOPPING', 'LOST', 'STOPPED', 'RUNNING', 'DONE', 'FAULTED', 'COMPLETED'],
  ...['TOKEN_ENDPOINT_LOST', 'EDGE_CLOSED', 'NODE_LOST', 'WORKER_EXITED', 'NODE_DRAINED'].map(
    (reason) => `STAGE_FAULT_REASON_${reason}`,
  ),
];

/** Three honest agents behind breaking streams, one orchestrator that restarts, operators at the worst moment. */
class Walk {
  readonly memory = new WorldInMemory();
  readonly watchdog = new Watchdog();
  readonly agents = ['alpha', 'beta', 'gamma'].map((name) => new HonestAgent(name, () => 'cluster-a'));
  readonly endpoints = new HonestEndpoints();
  /** Phases and outcomes that some step led to. */
  readonly reached = new Set<string>();
  private requests = 0;

  take({ verb, agent: index, seconds, run }: Step): void {
    const agent = this.agents[index]!;
    switch (verb) {
      case 'handle':
        return this.post(agent.handleOne());
      case 'handle-all':
        for (const each of this.agents) for (let message = 0; message < 8; message++) this.post(each.handleOne());
        return;
      case 'ready':
      case 'fault':
        return this.post(agent.progress(verb === 'fault'));
      case 'wait':
        return this.post(this.agents.flatMap((each) => each.waitForEdges()));
      case 'endpoint-ready':
        return this.post(this.endpoints.becomeReady());
      case 'endpoint-lost':
        return this.post(this.endpoints.lose(seconds % 2 === 0));
      case 'answer':
        return this.post(this.endpoints.answer(seconds % 4 === 0));
      case 'break':
        return this.post(agent.breakStream());
      case 'connect':
        for (const each of this.agents) this.post(each.connect());
        return;
      case 'crash':
        return this.post(agent.crash());
      case 'create':
        return this.create(run, seconds % 2 === 0, seconds % 3);
      case 'stop':
        return this.post([{ kind: 'run-stop-requested', call: 1, runId: runId(BigInt(run)) }]);
      case 'cordon':
        return this.atNode(index, (nodeId) => ({
          kind: 'node-cordon-requested',
          call: 1,
          nodeId,
          cordoned: seconds % 2 === 0,
        }));
      case 'drain':
        return this.atNode(index, (nodeId) => ({
          kind: 'node-drain-requested',
          call: 1,
          nodeId,
          deadline: seconds * 500,
        }));
      case 'delete-node':
        return this.atNode(index, (nodeId) => ({ kind: 'node-delete-requested', call: 1, nodeId }));
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
      this.post(this.endpoints.becomeReady());
      this.post(this.endpoints.answer(false));
    }
    for (const nodeId of this.memory.world.nodes.keys())
      this.post([{ kind: 'node-cordon-requested', call: 1, nodeId, cordoned: false }]);
    // Stops that were never confirmed, graces, leases, backoffs.
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
    for (const effect of this.memory.effects) {
      for (const agent of this.agents) agent.take(effect);
      this.endpoints.take(effect);
    }
    for (const run of this.memory.world.runs.values()) {
      const faulted = run.cause ? StageFaultReason[run.cause.fault.reason] : '';
      if (run.generation > 1) this.reached.add('generation 2');
      if (run.remnants.length > 0) this.reached.add('remnant');
      if (run.restart?.obstacle) this.reached.add('attempt refused');
      for (const name of [run.phase, `${run.outcome}`, faulted, ...run.stages.map(({ phase }) => phase)])
        this.reached.add(name);
    }
    assertInvariants(this.memory.world);
    this.watchdog.observe(this.memory.world, this.memory.turn!);
  }

  private create(stages: number, oneShot: boolean, maxAttempts: number): void {
    const nodes = [...this.memory.world.nodes.keys()];
    if (nodes.length === 0) return;
    const ids = Array.from({ length: stages }, (_, at) => nodes[at % nodes.length]!);
    const requestId = `request-${++this.requests}`;
    const fixed = samplePlan(ids, oneShot ? 'Tell me a story.' : '');
    const plan = stages % 2 === 0 ? fixed : { ...fixed, placement: undefined, stageCount: 1 };
    const mode = maxAttempts > 0 ? RestartMode.RESTART_MODE_ON_FAULT : RestartMode.RESTART_MODE_NEVER;
    const restart = { mode, maxAttempts, backoffMillis: 0n };
    this.post([{ kind: 'run-requested', call: 1, request: { requestId, digest: requestId, plan, restart } }]);
  }

  private atNode(index: number, event: (id: NodeId) => ClusterEvent): void {
    const id = [...this.memory.world.nodes.keys()][index];
    if (id !== undefined) this.post([event(id)]);
  }

  private restart(): void {
    const before = storedFrom(this.memory.world);
    this.memory.restart();
    this.watchdog.restarted(this.memory.world);
    for (const agent of this.agents) agent.breakStream();
    this.endpoints.die();
    const after = storedFrom(this.memory.world);
    expect({ ...after, cluster: { ...after.cluster, epoch: before.cluster.epoch } }).toEqual(before);
    this.post([{ kind: 'orchestrator-started' }]);
  }
}

describe('random walks', () => {
  it('keep the invariants at every step, and settle once faults stop (I1, I2, I8, I11, I12, I17, I18)', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(fc.noBias(steps), (walked) => {
        const walk = new Walk();
        for (const agent of walk.agents)
          walk.take({ verb: 'connect', agent: walk.agents.indexOf(agent), seconds: 0, run: 0 });
        for (const step of walked) walk.take(step);
        walk.heal();
        for (const run of walk.memory.world.runs.values()) {
          expect(run.mode === RunMode.RUN_MODE_SERVING ? ['RUNNING', 'DONE'] : ['DONE']).toContain(run.phase);
          if (run.phase === 'RUNNING') expect(run.volatile.endpoint).toBe('ready');
          expect(walk.endpoints.open.has(run.runId)).toBe(run.phase === 'RUNNING');
        }
        for (const name of walk.reached) reached.add(name);
        for (const agent of walk.agents) {
          for (const stage of agent.held.values()) {
            const run = walk.memory.world.runs.get(runId(stage.runId));
            expect(run?.phase, `${agent.name} still holds ${stage.runId}/${stage.stageIndex}`).toBe('RUNNING');
          }
        }
      }),
      { numRuns: 200 },
    );
    // A walk that never gets anywhere interesting proves nothing.
    for (const name of interesting) {
      expect(reached, `no walk reached ${name}`).toContain(name);
    }
  }, 120_000);
});
