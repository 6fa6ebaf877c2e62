import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import {
  type GenerateText,
  type OpenTokenEndpoint,
  TextRefusalReason,
  TokenEndpointCommand,
  type TokenEndpointEvent,
} from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../core/limits.js';
import { optimiseEarly } from '../process/optimise-early.js';
import { edgeName } from '../worker/edge/edge-preamble.js';
import type { ObjectRecord } from '../worker/edge/object-record.js';
import type { Line } from '../worker/line-splitter.js';
import { parseMessageLine } from '../worker/parse-message-line.js';
import { workerFault } from '../worker/stage-fault.js';
import { type CheckedOpen, checkOpen } from './check-open.js';
import { type EndpointFault, openTokenEdges, type TokenEdges } from './open-token-edges.js';
import { openTokenizer } from './open-tokenizer.js';
import { PromptScheduler } from './prompt-scheduler.js';
import { TokenOutbox } from './token-outbox.js';
import type { Tokenizer } from './tokenizer.js';

/** Everything that an endpoint does to the world, besides its two edges. */
export interface EndpointPort {
  say(event: NonNullable<TokenEndpointEvent['event']>): void;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Calls back once after some milliseconds; the result takes that back. */
  later(millis: number, call: () => void): () => void;
  /** A close was commanded: say `stopped`, exit with 0. */
  close(): void;
}

type State =
  | { readonly kind: 'idle' | 'opening' | 'over' }
  | { readonly kind: 'ready'; readonly scheduler: PromptScheduler };

/** The endpoint's side of the protocol: one run, at most one fault, and an answer to every health check. */
export class TokenEndpoint {
  #state: State = { kind: 'idle' };
  #edges: TokenEdges | undefined;
  #tokenizer: Tokenizer | undefined;

  constructor(readonly port: EndpointPort) {}

  receive(line: Line): void {
    if (line.kind === 'too-long') {
      this.#refuseLine(`is longer than ${limits.tokenEndpointLineBytes} bytes`);
      return;
    }
    const parsed = parseMessageLine(TokenEndpointCommand, line.text);
    if (parsed.kind === 'malformed') this.#refuseLine(parsed.problem);
    else this.#obey(parsed.message.command);
  }

  /** Ends every answer and both edges. */
  end(why: string): void {
    const state = this.#state;
    this.#state = { kind: 'over' };
    if (state.kind === 'ready') state.scheduler.end(why);
    this.#edges?.tokenIn.close();
    this.#edges?.tokenOut.close();
    this.#tokenizer?.close();
    this.#edges = undefined;
    this.#tokenizer = undefined;
  }

  /** Ends the endpoint with its one fault; a later one is only logged. */
  fault({ reason, message, edgeId }: EndpointFault): void {
    const fields = { reason: StageFaultReason[reason], edgeId: String(edgeId), why: message };
    if (this.#state.kind === 'over') {
      this.port.log.warn(fields, 'further fault of an endpoint that has ended');
      return;
    }
    this.port.log.error(fields, 'token endpoint faulted');
    this.end(message);
    this.port.say({ $case: 'fault', value: { reason, message, edgeId } });
  }

  #obey(command: TokenEndpointCommand['command']): void {
    switch (command?.$case) {
      case 'open':
        void this.#open(command.value);
        break;
      case 'generate':
        this.#generate(command.value);
        break;
      case 'acknowledge':
        this.#scheduler?.acknowledge(command.value);
        break;
      case 'cancel':
        this.#scheduler?.cancel(command.value);
        break;
      case 'endConversation':
        this.#scheduler?.endConversation(command.value.conversation);
        break;
      case 'checkHealth':
        this.#sayHealth(command.value.sequence);
        break;
      case 'close':
        this.port.log.info({ why: command.value.reason }, 'close commanded');
        this.port.close();
        break;
      default:
        this.#refuseLine('has none of the commands of this protocol');
    }
  }

  #sayHealth(sequence: bigint): void {
    const load = this.#scheduler?.load() ?? { waitingPrompts: 0, runningAnswers: 0, heldSessions: 0 };
    this.port.say({ $case: 'health', value: { sequence, ...load } });
  }

  get #scheduler(): PromptScheduler | undefined {
    return this.#state.kind === 'ready' ? this.#state.scheduler : undefined;
  }

  #generate(request: GenerateText): void {
    if (this.#scheduler !== undefined) {
      this.#scheduler.generate(request);
      return;
    }
    const message = `the token endpoint is ${this.#state.kind}, not ready: send prompts to a run that is RUNNING`;
    const reason = TextRefusalReason.TEXT_REFUSAL_REASON_NOT_READY;
    const { requestId } = request;
    this.port.say({ $case: 'refused', value: { requestId, reason, message, actual: 0, allowed: 0 } });
  }

  async #open(command: OpenTokenEndpoint): Promise<void> {
    if (this.#state.kind !== 'idle') {
      const message = 'this token endpoint was given a second run to open: start one per run';
      this.fault(ofNoEdge(StageFaultReason.STAGE_FAULT_REASON_CONFLICTING_DELIVERY, message));
      return;
    }
    this.#state = { kind: 'opening' };
    const checked = checkOpen(command);
    if (checked.kind === 'malformed') {
      const message = `the open command ${checked.problem}`;
      this.fault(ofNoEdge(StageFaultReason.STAGE_FAULT_REASON_INVALID_DELIVERY, message));
      return;
    }
    const { runId, generation } = checked.tokenIn.contract;
    this.port.log.info({ runId: String(runId), generation, path: checked.modelPath }, 'token endpoint opens');
    const opened = await openTokenizer(checked.tokenizer, checked.modelPath);
    if (opened.kind === 'refused') this.fault({ ...opened.fault, edgeId: 0n });
    else await this.#connect(checked, opened.tokenizer);
  }

  async #connect(checked: CheckedOpen, tokenizer: Tokenizer): Promise<void> {
    const opened = await openTokenEdges(checked, {
      connected: () => this.#connected(scheduler, tokenizer),
      receive: (object) => this.#take(scheduler, object, checked),
      room: () => outbox.flush(),
      fault: (fault) => this.fault(fault),
      note: (sentence) => this.port.log.warn({ why: sentence }, 'edge'),
    });
    if (opened.kind === 'refused') {
      this.fault(opened.fault);
      return;
    }
    // Closed while it opened.
    if (this.#state.kind === 'over') {
      opened.edges.tokenIn.close();
      opened.edges.tokenOut.close();
      tokenizer.close();
      return;
    }
    this.#edges = opened.edges;
    this.#tokenizer = tokenizer;
    const outbox = new TokenOutbox(opened.edges.tokenIn);
    const scheduler = new PromptScheduler(checked.bounds, tokenizer, {
      say: (event) => this.port.say(event),
      now: () => this.port.now(),
      later: (millis, call) => this.port.later(millis, call),
      send: (object) => outbox.send(object),
      drop: (session) => outbox.drop(session),
    });
  }

  #connected(scheduler: PromptScheduler, { kind }: Tokenizer): void {
    if (this.#state.kind !== 'opening') return;
    this.#state = { kind: 'ready', scheduler };
    optimiseEarly();
    this.port.log.info({}, 'token endpoint ready');
    this.port.say({ $case: 'ready', value: { tokenizer: kind } });
  }

  #take(scheduler: PromptScheduler, object: ObjectRecord, { tokenOut }: CheckedOpen): void {
    if (this.#state.kind === 'over') return;
    const outcome = scheduler.receive(object);
    if (outcome.kind === 'taken') return;
    const message = `an object on ${edgeName(tokenOut.contract)} ${outcome.problem}: run one version on all nodes`;
    const fault = workerFault(StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL, message);
    this.fault({ ...fault, edgeId: tokenOut.contract.edgeId });
  }

  #refuseLine(problem: string): void {
    const message = `a line on the token endpoint's stdin ${problem}`;
    this.fault(ofNoEdge(StageFaultReason.STAGE_FAULT_REASON_INVALID_DELIVERY, message));
  }
}

function ofNoEdge(reason: StageFaultReason, message: string): EndpointFault {
  return { ...workerFault(reason, message), edgeId: 0n };
}
