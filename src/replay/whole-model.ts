import { join } from 'node:path';
import type { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { type GenerateText, OpenTokenEndpoint } from '../../gen/stageplane/v1/token_endpoint.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { WorkerProcess } from '../agent/worker-process.js';
import { ownWorker } from '../agent/worker-program.js';
import { defaultWorkerTimings } from '../agent/worker-timings.js';
import { ORCHESTRATOR_NODE_ID, runId } from '../core/ids.js';
import { exitFault, failureFault } from '../core/machine/agent/worker-faults.js';
import { answerSampling } from '../token-endpoint/answer-sampling.js';
import { EndpointHost } from '../token-endpoint/endpoint-host.js';
import { SLICE_FOLDER } from '../worker/engine/llama/slice-settings.js';
import { ReplayedAnswer } from './replayed-answer.js';
import type { WholePlan } from './whole-plan.js';

/** What the whole model is run with. */
export interface WholeModelOptions {
  readonly whole: Extract<WholePlan, { kind: 'planned' }>;
  readonly settings: StageSettings;
  readonly modelPath: string;
  /** The file with the tokenizer; empty when the engine needs none. */
  readonly tokenizerPath: string;
  /** For sockets and whatever the engine writes; the caller's to remove. */
  readonly folder: string;
}

const GENERATION = 1;

/** The whole model in one stage worker process, with a token endpoint at both of its ends. Both end with this process (I18). */
export class WholeModel {
  /** Resolves when it takes prompts; never when it has failed. */
  readonly ready: Promise<unknown>;
  /** Resolves when a process has failed: `close` says how. */
  readonly failed: Promise<void>;
  readonly #options: WholeModelOptions;
  readonly #worker: WorkerProcess;
  readonly #endpoint: EndpointHost;
  /** The worker's word goes before the endpoint's, which may only have lost its neighbour. */
  readonly #complaints: { worker?: string; endpoint?: string } = {};
  #fail!: () => void;

  constructor(options: WholeModelOptions) {
    this.#options = options;
    const { folder, whole } = options;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.#worker = new WorkerProcess({
      command: ownWorker().command,
      timings: defaultWorkerTimings,
      onLogError: () => {},
      variables: { [SLICE_FOLDER]: join(folder, 'slices') },
    });
    const loaded = this.#listenToWorker(whole.plan.runId);
    let connected!: () => void;
    const opened = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const lost = ({ message }: { message: string }) => this.#complain('endpoint', message);
    this.#endpoint = new EndpointHost({ ready: connected, lost, healthy: () => {} }, { timings: defaultWorkerTimings });
    this.ready = Promise.all([loaded, opened]);
    const sockets = { first: join(folder, 'in.sock'), last: join(folder, 'out.sock') };
    this.#worker.send({ command: { $case: 'prepare', value: prepareCommand(options, sockets) } });
    this.#endpoint.open(openCommand(options, sockets));
  }

  /** The answer to a prompt; never resolves when the model fails before its end. */
  async answer(prompt: Pick<GenerateText, 'prompt' | 'messages'>, maxTokens: number): Promise<ReplayedAnswer> {
    await this.ready;
    const { sampling: policy, stop = [] } = this.#options.whole.plan.runtime ?? {};
    const sampling = answerSampling({ policy, seed: this.#options.settings.seed });
    const request = { ...prompt, maxTokens, parseSpecial: false, conversation: '', sampling, stop };
    return new Promise((resolve) => {
      const answer = new ReplayedAnswer({
        taken: (tokens) => this.#endpoint.acknowledge(requestId, tokens),
        ended: () => resolve(answer),
      });
      const requestId = this.#endpoint.generate(request, answer);
    });
  }

  /** Ends both processes; gives a sentence about what failed, if something did. */
  async close(): Promise<string | undefined> {
    this.#worker.stop('the replay is over');
    await Promise.all([this.#endpoint.close('the replay is over'), this.#worker.reaped]);
    const { worker, endpoint } = this.#complaints;
    return worker ?? endpoint;
  }

  /** Resolves when the model is loaded. */
  #listenToWorker(ofRun: bigint): Promise<void> {
    const key = { runId: runId(ofRun), stageIndex: 0, generation: GENERATION };
    return new Promise((resolve) => {
      this.#worker.listen({
        greeted: () => {},
        loading: () => {},
        ready: () => resolve(),
        faulted: ({ message }) => this.#complain('worker', message),
        healthy: () => {},
        failed: (failure, logTail) => this.#complain('worker', failureFault(key, failure, logTail).message),
        exited: (exit, logTail) => {
          // 0 is what it was asked for.
          if (exit.code !== 0) this.#complain('worker', exitFault(key, exit, logTail).message);
        },
      });
    });
  }

  #complain(who: 'worker' | 'endpoint', message: string): void {
    this.#complaints[who] ??= message;
    this.#fail();
  }
}

interface Sockets {
  /** Where the stage takes tokens. */
  readonly first: string;
  /** Where the endpoint takes them back. */
  readonly last: string;
}

function prepareCommand({ whole, settings, modelPath }: WholeModelOptions, { first, last }: Sockets): PrepareStage {
  return {
    provision: whole.provision,
    settings,
    generation: GENERATION,
    modelPath,
    producerNodeId: ORCHESTRATOR_NODE_ID,
    inboundSocket: first,
    outboundSocket: last,
  };
}

function openCommand({ whole, settings, tokenizerPath }: WholeModelOptions, { first, last }: Sockets) {
  const [tokenIn, tokenOut] = whole.plan.edges;
  return OpenTokenEndpoint.fromPartial({
    runId: whole.plan.runId,
    generation: GENERATION,
    tokenIn,
    tokenOut,
    outboundSocket: first,
    inboundSocket: last,
    modelPath: tokenizerPath,
    settings,
  });
}
