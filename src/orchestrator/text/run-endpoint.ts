import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import type { TextLoad } from '../../../gen/stageplane/v1/run.js';
import { type StageFault, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import type { GenerateText, TextAnswer, TokenEndpointHealth } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { RunState } from '../../core/machine/state.js';
import type { EdgeGateway, Registration } from '../../edge-gateway/edge-gateway.js';
import { EndpointHost, type EndpointHostOptions } from '../../token-endpoint/endpoint-host.js';
import type { AnswerReader } from '../../token-endpoint/open-answers.js';
import { ownText } from './asked-text.js';
import { endpointFault, promptFault } from './endpoint-fault.js';
import { OneShotAnswer } from './one-shot-answer.js';
import { openCommand } from './open-command.js';
import { TokenRate } from './token-rate.js';

/** What an endpoint tells the machine. Nothing after `close`. */
export interface RunEndpointListener {
  ready(): void;
  lost(fault: StageFault): void;
  quiet(): void;
  answered(answer: TextAnswer): void;
  refused(fault: StageFault): void;
}

/** What every endpoint of this orchestrator stands on. */
export interface EndpointSurroundings {
  readonly gateway: EdgeGateway;
  /** Of the orchestrator itself. */
  readonly nodeId: bigint;
  readonly epoch: bigint;
  /** A path for an inbound socket on which nothing listens. */
  readonly inboundSocket: (run: RunState) => string;
  /** The file with the tokenizer of a run. Rejects with a sentence for people. */
  readonly findTokenizer: (run: RunState) => Promise<string>;
  /** Looks on at an answer: what it gives back is told of it. */
  readonly followAnswer: (reader: AnswerReader) => AnswerReader;
  readonly host: EndpointHostOptions;
  readonly logger: Logger;
}

/** The token endpoint of one generation of a run: its process, its two edges in the gateway, and its one-shot answer. */
export class RunEndpoint {
  /** Of a ONE_SHOT run. */
  readonly answer: OneShotAnswer | undefined;
  /** Of whom a line of the log is; no child, which would keep the level that it was born with. */
  readonly #about: { readonly runId: string; readonly generation: number };
  readonly #inboundSocket: string;
  #host: EndpointHost | undefined;
  #registration: Registration | undefined;
  readonly #rate = new TokenRate();
  #load: Omit<TextLoad, 'tokensPerSecond'> | undefined;
  #isReady = false;
  #isOver = false;
  #answerId: string | undefined;
  #underWay = 0;
  #isQuietAwaited = false;

  constructor(
    readonly run: RunState,
    private readonly around: EndpointSurroundings,
    private readonly listener: RunEndpointListener,
  ) {
    this.#inboundSocket = around.inboundSocket(run);
    this.#about = { runId: String(run.runId), generation: run.generation };
    if (run.mode === RunMode.RUN_MODE_ONE_SHOT) this.answer = this.#oneShotAnswer();
    void this.#open();
  }

  get isReady(): boolean {
    return this.#isReady && !this.#isOver;
  }

  /** The newest that the endpoint has said of itself. */
  get load(): TextLoad | undefined {
    if (!this.isReady || !this.#load) return undefined;
    return { ...this.#load, tokensPerSecond: this.#rate.perSecond(performance.now()) };
  }

  /** Only while it is ready. Gives the id by which the answer is acknowledged and cancelled. */
  generate(request: Omit<GenerateText, 'requestId'>, reader: AnswerReader): string {
    const followed = this.around.followAnswer(reader);
    this.#underWay += 1;
    return this.#host!.generate(request, {
      delta: (delta) => {
        this.#rate.count(delta.tokenIds.length, performance.now());
        followed.delta(delta);
      },
      done: (done) => {
        followed.done(done);
        this.#answerOver();
      },
      refused: (refusal) => {
        followed.refused(refusal);
        this.#answerOver();
      },
    });
  }

  /** Tells once, as soon as no answer is under way. */
  awaitQuiet(): void {
    this.#isQuietAwaited = true;
    this.#tellQuiet();
  }

  acknowledge(requestId: string, tokens: number): void {
    this.#host?.acknowledge(requestId, tokens);
  }

  cancel(requestId: string, reason: string): void {
    this.#host?.cancel(requestId, reason);
  }

  /** Answers the run's own prompt. */
  beginAnswer(): void {
    if (this.answer === undefined || !this.isReady) return;
    this.#answerId = this.generate(ownText(this.run), this.answer);
  }

  /** Ends the process and its edges; open answers end UNAVAILABLE. Resolves when nothing is left. */
  async close(reason: string): Promise<void> {
    this.#isOver = true;
    await this.#host?.close(reason);
    this.#registration?.remove();
    // A process that was killed leaves it.
    rmSync(this.#inboundSocket, { force: true });
    this.answer?.giveUp();
  }

  async #open(): Promise<void> {
    const { gateway, host, epoch } = this.around;
    const refusal = this.#register();
    if (refusal !== undefined) return this.#lose(endpointFault('EDGE_UNREACHABLE', refusal));
    let modelPath: string;
    try {
      modelPath = await this.around.findTokenizer(this.run);
    } catch (error) {
      return this.#lose(endpointFault('MODEL_NOT_FOUND', (error as Error).message));
    }
    if (this.#isOver) return;
    this.#host = new EndpointHost(
      {
        ready: () => this.#ready(),
        lost: (fault, logTail) => this.#lose({ reason: fault.reason, message: fault.message, logTail: [...logTail] }),
        healthy: (health) => this.#healthy(health),
      },
      host,
    );
    const sockets = { outboundSocket: gateway.localSocket, inboundSocket: this.#inboundSocket };
    this.#host.open(openCommand(this.run, { ...sockets, modelPath, epoch }));
  }

  #register(): string | undefined {
    const { gateway, nodeId } = this.around;
    const { runId, generation, plan, stages } = this.run;
    const registered = gateway.register({
      runId,
      generation,
      nodeId,
      inbound: {
        edgeId: plan.edges.at(-1)!.edgeId,
        producerNodeId: stages.at(-1)!.nodeId,
        socket: this.#inboundSocket,
      },
      outbound: { edgeId: plan.edges.at(0)!.edgeId, consumerNodeId: stages.at(0)!.nodeId },
      onDistrust: (sentence) => this.#lose(endpointFault('EDGE_UNREACHABLE', sentence)),
    });
    if (registered.kind === 'refused') return `the token endpoint of run ${runId}: ${registered.message}`;
    this.#registration = registered.registration;
    return undefined;
  }

  #answerOver(): void {
    this.#underWay -= 1;
    this.#tellQuiet();
  }

  #tellQuiet(): void {
    if (!this.#isQuietAwaited || this.#underWay > 0 || this.#isOver) return;
    this.#isQuietAwaited = false;
    this.listener.quiet();
  }

  #ready(): void {
    if (this.#isOver) return;
    this.#isReady = true;
    this.around.logger.info(this.#about, 'token endpoint ready');
    this.listener.ready();
  }

  #healthy({ waitingPrompts, runningAnswers, heldSessions }: TokenEndpointHealth): void {
    this.#load = { waitingPrompts, runningAnswers, heldSessions };
  }

  #lose(fault: StageFault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#registration?.remove();
    const what = { reason: StageFaultReason[fault.reason], why: fault.message };
    this.around.logger.warn({ ...this.#about, ...what }, 'token endpoint lost');
    this.listener.lost(fault);
  }

  #oneShotAnswer(): OneShotAnswer {
    return new OneShotAnswer({
      taken: (tokens) => this.acknowledge(this.#answerId!, tokens),
      tooLong: () => this.cancel(this.#answerId!, 'the answer is as long as may be kept with a run: use a SERVING run'),
      ended: (answer) => this.listener.answered(answer),
      refused: (refusal) => this.listener.refused(promptFault(refusal)),
    });
  }
}
