import {
  type AcknowledgeText,
  type CancelText,
  type GenerateText,
  type TextDone,
  TextDoneReason,
  TextRefusalReason,
  type TokenEndpointEvent,
  type TokenEndpointHealth,
} from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../core/limits.js';
import { samplingProblems, stopProblems } from '../core/sampling-problems.js';
import type { StageObject } from '../worker/edge/object-record.js';
import { samplingSettings } from '../worker/sampling-object.js';
import { admitPrompt } from './admit-prompt.js';
import { Answer } from './answer.js';
import type { AnswerBounds } from './check-open.js';
import { SessionPool } from './session-pool.js';
import type { SessionPort, StageSession } from './stage-session.js';
import type { Tokenizer } from './tokenizer.js';

/** Everything that a scheduler does to the world. */
export interface SchedulerPort extends SessionPort {
  say(event: NonNullable<TokenEndpointEvent['event']>): void;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Calls back once after some milliseconds; the result takes that back. */
  later(millis: number, call: () => void): () => void;
}

/** An answer that has its session. */
interface Running {
  readonly answer: Answer;
  readonly session: StageSession;
  /** Its reader is behind: this token goes back to the stages when it has caught up. */
  held?: { readonly token: number; stopWaiting: () => void };
}

/** What an object of token-out was, if it was none that could come; `problem` goes on a sentence about it. */
export type ReceiveOutcome = { readonly kind: 'taken' } | { readonly kind: 'unexpected'; readonly problem: string };

const TAKEN: ReceiveOutcome = { kind: 'taken' };

/** Prompts to answers, several at a time: first come, first served, and then token by token in turns. */
export class PromptScheduler {
  readonly #pool: SessionPool;
  /** In the order in which they came. */
  readonly #waiting = new Map<string, Answer>();
  readonly #running = new Map<string, Running>();
  readonly #bySession = new Map<bigint, Running>();

  constructor(
    readonly bounds: AnswerBounds,
    readonly tokenizer: Tokenizer,
    readonly port: SchedulerPort,
  ) {
    this.#pool = new SessionPool(bounds.sessions, bounds.microBatch, port, bounds.firstSession);
  }

  load(): Omit<TokenEndpointHealth, 'sequence'> {
    return {
      waitingPrompts: this.#waiting.size,
      runningAnswers: this.#running.size,
      heldSessions: this.#pool.size,
    };
  }

  generate(request: GenerateText): void {
    const { requestId, conversation } = request;
    const refuse = (reason: TextRefusalReason, message: string, allowed = 0) =>
      this.port.say({ $case: 'refused', value: { requestId, reason, message, actual: 0, allowed } });
    const problem = this.#problemOf(request);
    if (problem !== undefined) {
      refuse(TextRefusalReason.TEXT_REFUSAL_REASON_INVALID_REQUEST, problem);
    } else if (this.#waiting.size >= limits.waitingPrompts) {
      const message = `${limits.waitingPrompts} prompts wait for this run already: try again when some are answered`;
      refuse(TextRefusalReason.TEXT_REFUSAL_REASON_TOO_MANY_REQUESTS, message, limits.waitingPrompts);
    } else {
      const startedAt = this.port.now();
      const admission = admitPrompt(request, this.tokenizer, this.bounds);
      if (admission.kind === 'refused') {
        this.port.say({ $case: 'refused', value: admission.refusal });
        return;
      }
      const { tokens, maxTokens } = admission;
      const sampling = request.sampling && samplingSettings(request.sampling.policy!, request.sampling.seed);
      const prompt = { requestId, conversation, tokens, maxTokens, sampling, stop: request.stop };
      this.#waiting.set(requestId, new Answer(prompt, startedAt));
      this.#startWaiting();
    }
  }

  acknowledge({ requestId, tokens }: AcknowledgeText): void {
    const running = this.#running.get(requestId);
    if (running === undefined || !running.answer.acknowledge(tokens) || running.held === undefined) return;
    const { token, stopWaiting } = running.held;
    stopWaiting();
    delete running.held;
    if (running.answer.isAhead) this.#hold(running, token);
    else running.session.follow(token);
  }

  cancel({ requestId, reason }: CancelText): void {
    this.#cancel(requestId, TextDoneReason.TEXT_DONE_REASON_CANCELLED, reason);
  }

  endConversation(conversation: string): void {
    this.#pool.endConversation(conversation);
  }

  /** Takes an object of token-out. */
  receive(object: StageObject): ReceiveOutcome {
    const session = this.#pool.find(object.session);
    if (session === undefined) return { kind: 'unexpected', problem: `is of session ${object.session}, which is over` };
    const news = session.receive(object);
    switch (news.kind) {
      case 'token':
        return this.#token(this.#bySession.get(session.id)!, news.token);
      case 'idle':
        this.#pool.giveBack(session);
        break;
      case 'released':
        this.#pool.forget(session);
        break;
      case 'nothing':
        return TAKEN;
      case 'unexpected':
        return news;
    }
    this.#startWaiting();
    return TAKEN;
  }

  /** The stages are out of reach: every answer ends. */
  end(message: string): void {
    const reason = TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE;
    for (const { answer, session, held } of this.#running.values()) {
      held?.stopWaiting();
      this.#sayDone(answer, answer.done(reason, message, session.reused));
    }
    for (const answer of this.#waiting.values()) this.#sayDone(answer, answer.done(reason, message, 0));
    this.#running.clear();
    this.#bySession.clear();
    this.#waiting.clear();
  }

  #problemOf({ requestId, conversation, sampling, stop }: GenerateText): string | undefined {
    const bytes = Math.max(Buffer.byteLength(requestId), Buffer.byteLength(conversation));
    if (bytes > limits.requestIdBytes)
      return `a request or conversation id has ${bytes} bytes: ${limits.requestIdBytes} at most`;
    if (requestId === '') return 'the request has no id: give it one';
    const isOpen = this.#waiting.has(requestId) || this.#running.has(requestId);
    if (isOpen) return `request ${requestId} is open already: give every request an id of its own`;
    if (sampling !== undefined && sampling.policy === undefined) return 'the request has sampling without a policy';
    const [problem] = [...(sampling === undefined ? [] : samplingProblems(sampling.policy!)), ...stopProblems(stop)];
    return problem && `${problem.field} ${problem.description}`;
  }

  #startWaiting(): void {
    for (const [requestId, answer] of this.#waiting) {
      const session = this.#pool.take(answer.prompt.conversation);
      if (session === undefined) continue;
      this.#waiting.delete(requestId);
      const running: Running = { answer, session };
      this.#running.set(requestId, running);
      this.#bySession.set(session.id, running);
      session.begin(answer.prompt);
    }
  }

  #token(running: Running, token: number): ReceiveOutcome {
    const { answer, session } = running;
    if (this.tokenizer.endTokens.has(token)) {
      this.#finish(running, TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION);
      return TAKEN;
    }
    const isFull = session.length >= this.bounds.contextLength;
    // The stages first: they wait for it, and its text is of no interest to them.
    const goesOn = !isFull && answer.goesOnAnyway;
    if (goesOn) session.follow(token);
    const delta = answer.add(token, this.tokenizer, this.port.now());
    if (delta === undefined)
      return { kind: 'unexpected', problem: `is token ${token}, which the tokenizer does not have` };
    const end = answer.completion ?? (isFull ? TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL : undefined);
    if (end === undefined && !goesOn) {
      if (answer.isAhead) this.#hold(running, token);
      else session.follow(token);
    }
    this.port.say({ $case: 'delta', value: delta });
    if (end !== undefined) this.#finish(running, end);
    return TAKEN;
  }

  #hold(running: Running, token: number): void {
    const { requestId } = running.answer.prompt;
    const seconds = limits.slowReaderMillis / 1000;
    const message = `the reader was ${limits.unreadTokens} tokens behind and took nothing for ${seconds} s: read faster, or ask again`;
    const stopWaiting = this.port.later(limits.slowReaderMillis, () =>
      this.#cancel(requestId, TextDoneReason.TEXT_DONE_REASON_SLOW_READER, message),
    );
    running.held = { token, stopWaiting };
  }

  #finish(running: Running, reason: TextDoneReason): void {
    const { answer, session } = running;
    this.#forget(running);
    session.rest();
    this.#sayDone(answer, answer.done(reason, '', session.reused));
    this.#pool.giveBack(session);
    this.#startWaiting();
  }

  #cancel(requestId: string, reason: TextDoneReason, message: string): void {
    const waiting = this.#waiting.get(requestId);
    if (waiting !== undefined) {
      this.#waiting.delete(requestId);
      this.#sayDone(waiting, waiting.done(reason, message, 0));
      return;
    }
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    running.held?.stopWaiting();
    this.#forget(running);
    this.#sayDone(running.answer, running.answer.done(reason, message, running.session.reused));
    running.session.cancel();
  }

  #forget({ answer, session }: Running): void {
    this.#running.delete(answer.prompt.requestId);
    this.#bySession.delete(session.id);
  }

  #sayDone(answer: Answer, done: TextDone): void {
    const rest = answer.rest();
    if (rest !== undefined) this.port.say({ $case: 'delta', value: rest });
    this.port.say({ $case: 'done', value: done });
  }
}
