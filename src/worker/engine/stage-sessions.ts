import { setImmediate as nextTurn } from 'node:timers/promises';
import { admitStep, answerWithoutRunning, noRoomFor, refusal } from './admit-step.js';
import { BoundaryBundle } from './boundary-bundle.js';
import type { EngineCapabilities } from './engine-capabilities.js';
import { SaidTokens } from './said-tokens.js';
import type { AnswerSampling } from './sampling.js';
import { remember, type Session, SessionTable } from './session-table.js';
import type { StageLayers, StepInput, StepOutput } from './stage-layers.js';
import { failure, OK, type StructuredStatus } from './status.js';
import { boundaryAfter, hiddenTensor, readStepRows, rowsOf, unknownToken } from './step-input.js';
import { StepResult } from './step-result.js';
import type { DecodeRequest, PrefillRequest } from './steps.js';
import { TokenOutput } from './token-output.js';
import { type Work, WorkQueue } from './work-queue.js';

type StepRequest = PrefillRequest | DecodeRequest;

/** The sessions of a loaded stage and the rules for their steps, the same for every engine. */
export class StageSessions {
  readonly table: SessionTable;
  readonly queue = new WorkQueue();
  /** Of the last stage: answers with sampling of their own, one of a session at most (I16). */
  readonly #said = new Map<string, SaidTokens>();
  generatedTokens = 0;
  cancelledSessions = 0;

  constructor(
    readonly layers: StageLayers,
    readonly stage: EngineCapabilities,
    /** Rows of one micro-batch at most. */
    readonly microBatch: number,
  ) {
    this.table = new SessionTable(stage.maxConcurrentSessions);
  }

  step(request: StepRequest): Promise<StepResult> {
    if (this.queue.full) {
      return Promise.resolve(refusal('RESOURCE_EXHAUSTED', 'too many steps wait at this stage: send fewer at once'));
    }
    const work = {
      sessionId: request.sessionId,
      step: request.idempotencyStep,
      bytes: inputBytes(request),
      cancelled: false,
    };
    return this.queue.run(work, () => this.#perform(request, work));
  }

  /**
   * Runs rows that an edge brought: of this epoch, each once and in order, so that no answer need be kept for a
   * repetition. One micro-batch at an idle stage runs before this returns: what a token waits for is counted in
   * microseconds.
   */
  runNext(next: NextRows): RunOutcome | Promise<RunOutcome> {
    const { sessionId, position, input } = next;
    const rows = rowsOf(input, this.layers.hiddenDim);
    const session = this.table.find(sessionId);
    const refused =
      unknownToken(input, this.layers) ?? noRoomFor(sessionId, position + rows, session, this.table, this.stage);
    if (refused !== undefined) return { kind: 'failed', status: refused };
    const opened = session ?? this.table.open(sessionId);
    const ended = (outcome: RunOutcome) => {
      if (outcome.kind === 'failed') this.#undo(opened, session === undefined ? undefined : position);
      return outcome;
    };
    if (rows <= this.microBatch && this.queue.idle) return ended(this.#runPiece(opened, position, input, rows));
    const work = { sessionId, step: next.workId, bytes: rows * Float32Array.BYTES_PER_ELEMENT, cancelled: false };
    return this.queue.run(work, async () => ended(await this.#runRows(opened, position, input, rows, work)));
  }

  /** Picks the tokens of a session so from here on; undefined goes back to the recipe. Its rows may come later. */
  sample(sessionId: string, sampling: AnswerSampling | undefined): void {
    if (sampling === undefined) this.#said.delete(sessionId);
    else this.#said.set(sessionId, new SaidTokens(sampling));
  }

  cancel(sessionId: string, workId?: string): StructuredStatus {
    const session = this.table.find(sessionId);
    const inFlight = this.queue.cancel(sessionId, workId === undefined ? undefined : Number(workId));
    if (session === undefined) {
      return inFlight ? OK : failure('UNKNOWN_SESSION', `this stage holds no session ${sessionId}: nothing to cancel`);
    }
    if (workId !== undefined || session.cancelled) return OK;
    session.cancelled = true;
    session.length = 0;
    session.answers.clear();
    this.layers.drop(sessionId);
    this.cancelledSessions += 1;
    return OK;
  }

  release(sessionId: string): StructuredStatus {
    this.queue.cancel(sessionId);
    this.#said.delete(sessionId);
    if (this.table.find(sessionId) !== undefined) this.#forget(sessionId);
    return OK;
  }

  /**
   * Drops what a session holds from `position` on. CACHE_MISS when it holds less, or when the architecture cannot forget
   * single positions and the session was dropped. FAILED_PRECONDITION while a step of the session waits or runs.
   */
  truncate(sessionId: string, position: number): StructuredStatus {
    if (this.queue.has(sessionId)) {
      return failure('FAILED_PRECONDITION', `session ${sessionId} has a step under way: truncate it after that`);
    }
    const session = this.table.find(sessionId);
    const held = session?.length ?? 0;
    if (held < position) {
      return failure(
        'CACHE_MISS',
        `session ${sessionId} holds ${held} positions here, not ${position}: prefill from 0`,
      );
    }
    if (session === undefined || held === position || this.#truncate(session, position)) return OK;
    return failure('CACHE_MISS', `session ${sessionId} cannot go back to ${position}: prefill from 0`);
  }

  /** Ends the steps that wait or run, and frees the layers. */
  async close(): Promise<void> {
    await this.queue.end();
    await this.layers.close();
  }

  async #perform(request: StepRequest, work: Work): Promise<StepResult> {
    if (work.cancelled) return cancelledStep(work);
    if (request.routeEpoch < this.table.epoch) {
      const message = `the step is of generation ${request.routeEpoch}; this stage is at ${this.table.epoch}`;
      return refusal('STALE_EPOCH', message);
    }
    if (request.routeEpoch > this.table.epoch) {
      for (const id of this.table.advance(request.routeEpoch)) this.layers.drop(id);
      this.#said.clear();
    }
    const answer = answerWithoutRunning(request, this.table.find(request.sessionId));
    if (answer !== undefined) return answer;
    const rows = readStepRows(request, this.stage, this.layers);
    if (rows.kind === 'refused') return new StepResult({ status: rows.status });
    const start = admitStep(request, rows.count, this.table, this.stage);
    if (start.kind === 'refused') return start.result;
    const session = start.session ?? this.table.open(request.sessionId);
    const isNew = start.session === undefined;
    if (session.length > request.position && !this.#truncate(session, request.position)) {
      return new StepResult({
        status: failure('CACHE_MISS', `session ${session.id} cannot go back to ${request.position}: prefill from 0`),
        cacheResult: 'MISS',
      });
    }
    const outcome = await this.#runRows(session, request.position, rows.input, rows.count, work);
    if (outcome.kind === 'failed') {
      this.#undo(session, isNew ? undefined : request.position);
      return new StepResult({ status: outcome.status });
    }
    const result = new StepResult({
      status: OK,
      cacheResult: start.cacheResult,
      output: this.#output(outcome.output),
    });
    remember(session, request.idempotencyStep, result);
    return result;
  }

  async #runRows(session: Session, position: number, input: StepInput, rows: number, work: Work): Promise<RunOutcome> {
    const pieces: StepOutput[] = [];
    for (let row = 0; row < rows; row += this.microBatch) {
      // A cancel arrives as a message, so the event loop must turn once between two micro-batches.
      if (row > 0) await nextTurn();
      if (work.cancelled) return { kind: 'failed', status: cancelledStep(work).status };
      const end = Math.min(rows, row + this.microBatch);
      const piece = slice(input, row, end, this.layers.hiddenDim);
      const outcome = this.#runPiece(session, position + row, piece, end - row);
      if (outcome.kind === 'failed') return outcome;
      pieces.push(outcome.output);
    }
    return { kind: 'done', output: joined(pieces) };
  }

  #runPiece(session: Session, position: number, piece: StepInput, rows: number): RunOutcome {
    try {
      const said = this.#said.get(session.id);
      said?.rewind(position + rows);
      const output = this.layers.run(session.id, position, piece, said);
      session.length = position + rows;
      if (output.kind === 'token') said?.add(session.length, output.tokenId);
      return { kind: 'done', output };
    } catch (error) {
      const message = `the engine failed at position ${position} of session ${session.id}: ${error}`;
      return { kind: 'failed', status: failure('INTERNAL', message) };
    }
  }

  #output(output: StepOutput): BoundaryBundle | TokenOutput {
    if (output.kind === 'token') {
      this.generatedTokens += 1;
      return new TokenOutput(output.tokenId, output.text);
    }
    return new BoundaryBundle({
      tensors: [hiddenTensor(output.values, this.layers.hiddenDim)],
      architecture: this.layers.architecture,
      boundaryPoint: boundaryAfter(this.stage.shardEnd),
    });
  }

  /** Takes back what a step that did not finish has left; without a position the step had begun its session. */
  #undo(session: Session, position: number | undefined): void {
    // Cancelled or released in the meantime: nothing of it is left.
    if (session.cancelled || this.table.find(session.id) !== session) return;
    if (position === undefined) this.#forget(session.id);
    else this.#truncate(session, position);
  }

  /** False when the architecture cannot forget single positions; the session is dropped then. */
  #truncate(session: Session, position: number): boolean {
    if (position === 0) this.layers.drop(session.id);
    else if (!this.layers.truncate(session.id, position)) {
      this.#forget(session.id);
      return false;
    }
    session.length = position;
    return true;
  }

  #forget(sessionId: string): void {
    this.layers.drop(sessionId);
    this.table.remove(sessionId);
  }
}

/** Rows of one session that follow exactly those that it holds. */
export interface NextRows {
  readonly sessionId: string;
  /** Names the rows for `cancel`. */
  readonly workId: number;
  /** Positions that the session holds: 0 begins it. */
  readonly position: number;
  /** Token ids at the first stage and rows at any other, one at least. */
  readonly input: StepInput;
}

export type RunOutcome =
  | { readonly kind: 'done'; readonly output: StepOutput }
  | { readonly kind: 'failed'; readonly status: StructuredStatus };

function cancelledStep(work: Work): StepResult {
  return refusal('CANCELLED', `step ${work.step} of session ${work.sessionId} was cancelled`);
}

function inputBytes(request: StepRequest): number {
  if (request.input !== undefined)
    return request.input.tensors.reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
  const ids = request.kind === 'prefill' ? request.tokenIds!.length : 1;
  return ids * Uint32Array.BYTES_PER_ELEMENT;
}

function slice(input: StepInput, from: number, to: number, hiddenDim: number): StepInput {
  return input.kind === 'tokens'
    ? { kind: 'tokens', ids: input.ids.slice(from, to) }
    : {
        kind: 'rows',
        values: input.values.subarray(from * hiddenDim, to * hiddenDim),
      };
}

/** One output of several micro-batches: all rows, or the token after the last one. */
function joined(pieces: readonly StepOutput[]): StepOutput {
  const last = pieces[pieces.length - 1]!;
  if (last.kind === 'token' || pieces.length === 1) return last;
  const parts = pieces.map((piece) => (piece.kind === 'rows' ? piece.values : new Float32Array()));
  const values = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((offset, part) => {
    values.set(part, offset);
    return offset + part.length;
  }, 0);
  return { kind: 'rows', values };
}
