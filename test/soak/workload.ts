import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RestartMode, type RunEvent, RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { listNodes, listRuns } from '../../src/launcher/list-all.js';
import { sampleFacts, samplePlan } from '../core/machine/samples.js';
import type { Random } from '../sim/random.js';
import type { Diary } from './diary.js';
import { readHistory } from './history.js';
import { SoakAgent } from './soak-agent.js';

/** Runs that are to be alive at once; a new one takes the place of each that is over. */
const LIVE_RUNS = 60;
const TICK_MILLIS = 100;

/** Launchers, operators and bad luck, for as long as it takes. Every call may be refused: what counts is what becomes of it. */
export class Workload {
  readonly counts = new Map<string, number>();
  readonly problems: string[] = [];
  readonly #agents: SoakAgent[];
  readonly #over = new Set<bigint>();
  #refilling = false;

  constructor(
    private readonly client: OrchestratorServiceClient,
    private readonly address: string,
    private readonly diary: Diary,
    private readonly random: Random,
    agents: number,
  ) {
    this.#agents = Array.from({ length: agents }, (_, index) => this.#newAgent(`node-${index}`));
  }

  get agents(): number {
    return this.#agents.length;
  }

  /** One tick: a few things happen. */
  async tick(): Promise<void> {
    void this.#refill();
    const agent = this.random.pick(this.#agents);
    const busy = this.#agents.filter(({ workers }) => workers > 0);
    if (busy.length > 0 && this.random.chance(0.5)) this.#count('worker died', () => this.random.pick(busy).faultOne());
    if (this.random.chance(0.3)) this.#count('stream broken', () => this.random.pick(this.#agents).breakStream());
    if (this.random.chance(0.1)) this.#count('agent killed', () => this.#replace(agent, 'kill'));
    if (this.random.chance(0.05)) this.#count('agent left', () => this.#replace(agent, 'leave'));
    if (this.random.chance(0.1)) void this.#drain();
    if (this.random.chance(0.02)) void this.#deleteNode();
    await sleep(TICK_MILLIS);
  }

  /** No more faults: what is there ends, and is counted. */
  async settle(): Promise<void> {
    for (const node of await listNodes(this.client)) await this.#try(Service.uncordonNode, { nodeId: node.nodeId });
    for (;;) {
      const runs = await listRuns(this.client, false);
      for (const { runId, phase } of runs) {
        if (phase === RunPhase.RUN_PHASE_DONE) await this.#close(runId);
        else await this.#try(Service.stopRun, { runId });
      }
      if (runs.length === 0) break;
      await sleep(TICK_MILLIS);
    }
    for (const agent of this.#agents) agent.leave();
    await Promise.all(this.#agents.map((agent) => agent.ended));
  }

  #newAgent(name: string): SoakAgent {
    const identity = { instanceId: randomUUID(), clusterId: '', nodeId: 0n, highestEpoch: 0n };
    return new SoakAgent(name, { identity }, this.address, this.diary);
  }

  /** Another process on the same disk takes the agent's place. */
  #replace(agent: SoakAgent, how: 'kill' | 'leave'): void {
    const index = this.#agents.indexOf(agent);
    if (index < 0) return;
    agent[how]();
    const restart = () => {
      this.#agents[index] = new SoakAgent(agent.name, agent.disk, this.address, this.diary);
    };
    if (how === 'kill') restart();
    else void agent.ended.then(restart);
  }

  async #refill(): Promise<void> {
    if (this.#refilling) return;
    this.#refilling = true;
    try {
      const runs = await listRuns(this.client, false);
      const over = runs.filter(({ phase }) => phase === RunPhase.RUN_PHASE_DONE);
      await Promise.all(over.map(({ runId }) => this.#close(runId)));
      const live = runs.filter(({ phase }) => phase !== RunPhase.RUN_PHASE_DONE);
      if (live.length > 0 && this.random.chance(0.5)) {
        await this.#count('stop', () => this.#try(Service.stopRun, { runId: this.random.pick(live).runId }));
      }
      const nodes = (await listNodes(this.client)).map(({ nodeId }) => nodeId);
      const missing = Math.max(LIVE_RUNS - live.length, 0);
      await Promise.all(Array.from({ length: missing }, () => this.#create(nodes)));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.problems.push(`a read was refused: ${error.message}`);
    } finally {
      this.#refilling = false;
    }
  }

  async #create(nodes: readonly bigint[]): Promise<void> {
    const stages = Array.from({ length: this.random.int(1, 8) }, () => this.random.pick(nodes));
    const prompt = this.random.chance(0.5) ? 'Tell me a story.' : '';
    const fixed = samplePlan(stages, prompt);
    const plan = this.random.chance(0.2)
      ? { ...fixed, placement: undefined, stageCount: 2, facts: sampleFacts }
      : fixed;
    const mode = this.random.chance(0.5) ? RestartMode.RESTART_MODE_ON_FAULT : RestartMode.RESTART_MODE_NEVER;
    const restart = { mode, maxAttempts: this.random.int(1, 4), backoffMillis: 50n };
    const answer = await this.#try(Service.createRun, { requestId: randomUUID(), plan, restart });
    this.#add(`create ${answer?.outcome?.$case ?? 'refused'}`);
  }

  /** Reads the history of a run that is over, holds it against the invariants, and deletes the run. */
  async #close(runId: bigint): Promise<void> {
    if (!this.#over.has(runId)) await this.#check(runId);
    this.#over.add(runId);
    // Refused while a stage of it is LOST: later, then.
    if (!(await this.#try(Service.deleteRun, { runId }))) return;
    this.#over.delete(runId);
    this.diary.forget(runId);
  }

  async #check(runId: bigint): Promise<void> {
    const events: RunEvent[] = [];
    for await (const { update } of streamCall(this.client, Service.watchRun, { runId, afterRevision: 0n }))
      if (update?.$case === 'event') events.push(update.value);
    const { problems, ready, outcome, generations } = readHistory(events);
    for (const problem of problems) this.problems.push(`run ${runId}: ${problem}`);
    for (const key of ready) {
      const { stageIndex, generation } = key;
      if (!this.diary.everStarted(key))
        this.problems.push(`run ${runId}: stage ${stageIndex} of generation ${generation} was READY without a worker`);
    }
    this.#add(`run ${RunOutcome[outcome]}`);
    if (generations > 1) this.#add('run began again');
  }

  async #drain(): Promise<void> {
    const node = this.random.pick(await listNodes(this.client));
    const request = { nodeId: node.nodeId, deadlineMillis: BigInt(this.random.int(0, 2000)) };
    try {
      for await (const { stagesLeft } of streamCall(this.client, Service.drainNode, request))
        if (stagesLeft === 0) this.#add('node drained');
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#add('drain refused');
    }
    await this.#try(Service.uncordonNode, { nodeId: node.nodeId });
  }

  async #deleteNode(): Promise<void> {
    const node = this.random.pick(await listNodes(this.client));
    if (await this.#try(Service.deleteNode, { nodeId: node.nodeId })) this.#add('node deleted');
  }

  async #try<Request, Response>(
    method: Parameters<typeof unaryCall<Request, Response>>[1],
    request: Request,
  ): Promise<Response | undefined> {
    try {
      return await unaryCall(this.client, method, request);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return undefined;
    }
  }

  #count<T>(what: string, act: () => T): T {
    this.#add(what);
    return act();
  }

  #add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
