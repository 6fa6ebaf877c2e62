// A run without its orchestrator, agents and gateways: stage workers and a token endpoint, each a process, chained by Unix sockets.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenerateText, OpenTokenEndpoint, TextDoneReason } from '../../dist/gen/stageplane/v1/token_endpoint.js';
import { WorkerProcess } from '../../dist/src/agent/worker-process.js';
import { defaultWorkerTimings } from '../../dist/src/agent/worker-timings.js';
import { limits } from '../../dist/src/core/limits.js';
import { packageRoot } from '../../dist/src/package-root.js';
import { descendantsOf } from '../../dist/src/process/descendants.js';
import { EndpointHost } from '../../dist/src/token-endpoint/endpoint-host.js';
import { SLICE_FOLDER } from '../../dist/src/worker/engine/llama/slice-settings.js';
import { processorMillis } from '../processor-time.mjs';
import { delayedEdge } from './delayed-edge.mjs';
import { planOf, WARMING_TOKENS } from './model.mjs';

const GENERATION = 1;

/** A stage worker that has said hello and nothing else. */
export async function idleWorker(sliceFolder) {
  const command = [process.execPath, join(packageRoot(), 'dist', 'src', 'worker', 'main.js')];
  const worker = new WorkerProcess({
    command,
    timings: defaultWorkerTimings,
    onLogError: () => {},
    variables: { [SLICE_FOLDER]: sliceFolder },
  });
  const loaded = {};
  loaded.outcome = new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`a stage worker failed: ${why}\n${worker.logTail.join('\n')}`));
    loaded.listen = (greeted) =>
      worker.listen({
        greeted,
        loading: () => {},
        ready: resolve,
        faulted: ({ message }) => fail(message),
        healthy: () => {},
        failed: (failure) => fail(JSON.stringify(failure)),
        exited: () => fail('it ended'),
      });
  });
  // Stopped before it was ever ready, or after.
  loaded.outcome.catch(() => {});
  await new Promise((resolve) => loaded.listen(resolve));
  return {
    worker,
    prepare: (stage, sockets = { inboundSocket: '', outboundSocket: '' }) => {
      const value = { ...stage, ...sockets, generation: GENERATION };
      worker.send({ command: { $case: 'prepare', value } });
      return loaded.outcome;
    },
  };
}

export class Chain {
  /** Of its sockets. @type {string} */
  folder;
  /** Rows of one piece of a prompt. @type {number} */
  microBatch;
  #workers = [];
  /** Ids of all processes of the chain: stages and token endpoint. */
  #processes = [];
  #delays = [];
  #host;

  /**
   * Settings are those of `planOf`; `delayMillis` is how long every edge takes more than it would.
   *
   * @param {any} model
   * @param {string} sliceFolder
   * @param {number} stageCount
   * @param {{ delayMillis?: number } & import('./model.mjs').AskedSettings} [options]
   */
  static async start(model, sliceFolder, stageCount, { delayMillis = 0, ...settings } = {}) {
    const before = new Set(descendantsOf(process.pid));
    const chain = new Chain();
    chain.folder = mkdtempSync(join(tmpdir(), 'chain-'));
    const plan = planOf(model, stageCount, settings);
    chain.microBatch = plan.stages[0].settings.microBatch;
    const listens = (edge) => join(chain.folder, `${edge}.sock`);
    const dials = (edge) => (delayMillis > 0 ? join(chain.folder, `${edge}-slow.sock`) : listens(edge));
    if (delayMillis > 0) {
      for (const edge of plan.edges.keys())
        chain.#delays.push(await delayedEdge(dials(edge), listens(edge), delayMillis));
    }
    const ready = [];
    for (const [index, stage] of plan.stages.entries()) {
      const { worker, prepare } = await idleWorker(sliceFolder);
      chain.#workers.push(worker);
      const sockets = { inboundSocket: listens(index), outboundSocket: dials(index + 1) };
      ready.push(prepare({ ...stage, modelPath: model.path }, sockets));
    }
    ready.push(chain.#openEndpoint(model, plan, { outboundSocket: dials(0), inboundSocket: listens(stageCount) }));
    await Promise.all(ready);
    chain.#processes = descendantsOf(process.pid).filter((pid) => !before.has(pid));
    return chain;
  }

  /**
   * Generates; gives `done`, its text, and when each token came, in milliseconds.
   *
   * @param {(tokens: number, cancel: () => void) => void} [onToken]
   * @returns {Promise<any>}
   */
  answer(request, onToken = () => {}) {
    return new Promise((resolve, reject) => {
      const at = [];
      let said = '';
      const id = this.#host.generate(GenerateText.fromPartial(request), {
        delta: ({ text, tokenIds }) => {
          said += text;
          for (const _ of tokenIds) at.push(performance.now());
          if (at.length % limits.tokensPerAcknowledgement === 0) this.#host.acknowledge(id, at.length);
          onToken(at.length, () => this.#host.cancel(id, 'enough'));
        },
        done: (done) => {
          if (done.reason === TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE) reject(new Error(done.message));
          else resolve({ done, text: said, at });
        },
        refused: ({ message }) => reject(new Error(message)),
      });
    });
  }

  /** Decodes `tokens` tokens after some that warm up; gives what one took, and what it took of the processors in all processes. */
  async burst(tokens) {
    const processor = [];
    const first = 1 + WARMING_TOKENS;
    // Not at every token: to look at the processes takes the processors that decode.
    const onToken = (count) => {
      if (count === first || count === first + tokens) processor.push(processorMillis(this.#processes));
    };
    const { at } = await this.answer({ prompt: 'Once upon a time', maxTokens: first + tokens }, onToken);
    const each = (begin, end) => (end - begin) / tokens;
    return { millis: each(at[first - 1], at.at(-1)), processorMillis: each(processor[0], processor.at(-1)) };
  }

  endConversation(conversation) {
    this.#host.endConversation(conversation);
  }

  async stop() {
    await this.#host?.close('measured');
    for (const worker of this.#workers) worker.kill();
    for (const worker of this.#workers) await worker.reaped;
    for (const delay of this.#delays) delay.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #openEndpoint(model, { edges, stages }, sockets) {
    return new Promise((resolve, reject) => {
      const listener = {
        ready: () => resolve(undefined),
        lost: ({ message }) => reject(new Error(message)),
        healthy: () => {},
      };
      this.#host = new EndpointHost(listener, { timings: defaultWorkerTimings });
      this.#host.open(
        OpenTokenEndpoint.fromPartial({
          ...sockets,
          runId: 1n,
          generation: GENERATION,
          tokenIn: edges.at(0),
          tokenOut: edges.at(-1),
          modelPath: model.path,
          settings: stages[0].settings,
        }),
      );
    });
  }
}

/** Tokens per second after the first one, on the endpoint's own clock. */
export function rateOf({ done }) {
  return Number(done.tokensPerSecondMillis) / 1000;
}

/** Milliseconds from the prompt to its first token. */
export function firstTokenMillis({ done }) {
  return Number(done.firstTokenMicros) / 1000;
}
