import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { TextDone, TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import type { RunId } from '../../src/core/ids.js';
import type { ClusterEvent } from '../../src/core/machine/events.js';
import type { RunState } from '../../src/core/machine/state.js';
import type { TokenEndpoints } from '../../src/orchestrator/text/token-endpoints.js';
import type { EdgeEnd } from './data-plane.js';
import type { Random } from './random.js';
import type { Scope } from './scope.js';
import type { Simulation } from './simulation.js';

/** One token endpoint: it loads its tokenizer, waits for its edges, and answers the prompt of a ONE_SHOT run. */
class Endpoint implements EdgeEnd {
  isLoaded = false;
  isReady = false;
  isAnswering = false;
  isClosed = false;
  readonly #key;

  constructor(
    readonly run: RunState,
    private readonly sim: Simulation,
    private readonly scope: Scope,
    private readonly random: Random,
    private readonly post: (event: ClusterEvent) => void,
  ) {
    this.#key = { runId: run.runId, generation: run.generation, stageIndex: -1 };
    const late = random.chance(sim.faults.endpoints);
    this.scope.after(late ? random.int(5_000, 60_000) : random.skewed(50, 3000), () => this.#load());
  }

  edgesChanged(): void {
    if (!this.isLoaded || this.isReady || this.isClosed) return;
    if (!this.sim.dataPlane.isConnected(this.#key, this.run.stages.length)) return;
    this.isReady = true;
    this.scope.after(this.random.skewed(1, 100), () => this.#say({ kind: 'token-endpoint-ready', ...this.#name() }));
  }

  neighbourLost(): void {
    if (this.isReady)
      this.scope.after(this.random.skewed(1, 300), () => this.lose(StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED));
  }

  lose(reason: StageFaultReason): void {
    if (this.isClosed) return;
    this.#breakOff();
    this.#say({ kind: 'token-endpoint-lost', ...this.#name(), fault: { reason, message: 'it ended', logTail: [] } });
    this.isClosed = true;
    this.sim.dataPlane.remove(this.#key, this);
  }

  answer(): void {
    if (!this.isReady) return;
    this.isAnswering = true;
    this.scope.after(this.random.skewed(200, 20_000), () => {
      if (!this.isAnswering || this.isClosed) return;
      this.isAnswering = false;
      if (this.random.chance(this.sim.faults.endpoints)) {
        const reason = StageFaultReason.STAGE_FAULT_REASON_PROMPT_REFUSED;
        const fault = { reason, message: 'the prompt is too long', logTail: [] };
        this.#say({ kind: 'answer-failed', ...this.#name(), fault });
      } else this.#say(this.#ended(TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION));
    });
  }

  /** Of what a SERVING run says only this is simulated: that it may take a while until it says nothing. */
  awaitQuiet(): void {
    this.scope.after(this.random.int(1, 60_000), () => this.#say({ kind: 'token-endpoint-quiet', ...this.#name() }));
  }

  /** An answer that was under way is given up, which is said a little later. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.sim.dataPlane.remove(this.#key, this);
    this.scope.after(this.random.skewed(1, 200), () => this.#breakOff());
  }

  #breakOff(): void {
    if (!this.isAnswering) return;
    this.isAnswering = false;
    this.post(this.#ended(TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE));
  }

  #load(): void {
    if (this.isClosed) return;
    if (this.random.chance(this.sim.faults.endpoints)) {
      return this.lose(
        this.random.pick([
          StageFaultReason.STAGE_FAULT_REASON_WORKER_START_FAILED,
          StageFaultReason.STAGE_FAULT_REASON_MODEL_NOT_FOUND,
        ]),
      );
    }
    this.isLoaded = true;
    this.sim.dataPlane.put(this.#key, this);
    this.edgesChanged();
    this.sim.dataPlane.tellChanged(this.#key);
  }

  #say(event: ClusterEvent): void {
    if (!this.isClosed) this.post(event);
  }

  #ended(reason: TextDoneReason): ClusterEvent {
    const answer = { text: 'Once', tokenIds: [1], done: TextDone.create({ reason }) };
    return { kind: 'answer-ended', ...this.#name(), answer };
  }

  #name() {
    return { runId: this.run.runId, generation: this.run.generation };
  }
}

/** The token endpoints of one orchestrator process. They end with it. */
export class Endpoints implements TokenEndpoints {
  readonly running = new Map<RunId, Endpoint>();
  #count = 0;

  constructor(
    private readonly sim: Simulation,
    private readonly scope: Scope,
    private readonly random: Random,
    private readonly post: (event: ClusterEvent) => void,
  ) {}

  open(run: RunState): void {
    const before = this.running.get(run.runId);
    if (before && before.run.generation === run.generation && !before.isClosed)
      this.sim.violated('I18', `run ${run.runId} opens a second token endpoint`);
    const random = this.random.fork(`endpoint ${++this.#count}`);
    this.running.set(run.runId, new Endpoint(run, this.sim, this.scope, random, this.post));
  }

  close(runId: RunId, generation: number): void {
    const endpoint = this.running.get(runId);
    if (endpoint?.run.generation !== generation) return;
    this.running.delete(runId);
    endpoint.close();
  }

  beginAnswer(runId: RunId, generation: number): void {
    const endpoint = this.running.get(runId);
    if (endpoint?.run.generation !== generation) return;
    if (endpoint.run.mode !== RunMode.RUN_MODE_ONE_SHOT)
      this.sim.violated('I8', `run ${runId} has no prompt to answer`);
    endpoint.answer();
  }

  awaitQuiet(runId: RunId, generation: number): void {
    const endpoint = this.running.get(runId);
    if (endpoint?.run.generation === generation) endpoint.awaitQuiet();
  }

  find(): undefined {
    return undefined;
  }

  async stop(): Promise<void> {}

  /** The oldest one ends by itself. */
  crash(): void {
    const [endpoint] = this.running.values();
    endpoint?.lose(StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED);
  }

  /** kill -9 of the orchestrator: its own end closes their stdin. */
  die(): void {
    for (const endpoint of this.running.values()) endpoint.close();
    this.running.clear();
  }
}
