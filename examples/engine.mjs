// @ts-check
// A stage engine of one's own, in a worker that an agent starts:
//   stageplane agent --worker "node engine.mjs"
//   stageplane run model.gguf --engine parrot --prompt "the cat sat on the"
// It says what parrots say: what followed the newest token when that was heard before, follows again.
import { inspectModel, runStageWorker } from 'stageplane';

/** @import { LoadRequest, ModelInspection, StageLayers, StepInput, StepOutput } from 'stageplane' */

/** @implements {StageLayers} */
class ParrotLayers {
  architecture = 'parrot';
  footprint = { bytesRead: 0, bytesDigest: '', deviceBytes: 0 };

  /** The KV: which tokens each session has heard. @type {Map<string, number[]>} */
  #heard = new Map();

  /** @param {LoadRequest} request @param {ModelInspection} model */
  constructor({ shardStart, shardEnd, totalLayers }, { facts, vocabularySize }) {
    this.effectiveStart = shardStart;
    this.isLast = shardEnd === totalLayers - 1;
    this.hiddenDim = Number(facts?.hiddenDim);
    this.vocabularySize = Number(vocabularySize);
  }

  /** @param {string} session @param {number} position @param {StepInput} input @returns {StepOutput} */
  run(session, position, input) {
    const rows = input.kind === 'tokens' ? this.embed(input.ids) : input.values.slice();
    if (!this.isLast) return { kind: 'rows', values: rows };
    const heard = (this.#heard.get(session) ?? []).slice(0, position);
    heard.push(...rows.filter((_, at) => at % this.hiddenDim === 0));
    this.#heard.set(session, heard);
    const before = heard.lastIndexOf(heard.at(-1) ?? 0, -2);
    return { kind: 'token', tokenId: heard[before + 1] ?? 0 };
  }

  /** One row per token, and the token is all that is in it. @param {readonly number[]} ids */
  embed(ids) {
    const rows = new Float32Array(ids.length * this.hiddenDim);
    for (const [at, id] of ids.entries()) rows[at * this.hiddenDim] = id;
    return rows;
  }

  /** @param {string} session @param {number} position */
  truncate(session, position) {
    this.#heard.get(session)?.splice(position);
    return true;
  }

  /** @param {string} session */
  drop(session) {
    this.#heard.delete(session);
  }

  async close() {}
}

runStageWorker({
  name: 'parrot',
  async load(request) {
    const read = await inspectModel(request.artifactPath);
    if (read.kind === 'inspected') return { kind: 'loaded', layers: new ParrotLayers(request, read.inspection) };
    return { kind: 'failed', status: { code: 'FAILED_PRECONDITION', message: read.error.message } };
  },
});
