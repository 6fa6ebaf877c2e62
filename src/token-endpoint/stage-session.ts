import { limits } from '../core/limits.js';
import { objectFlags, type StageObject } from '../worker/edge/object-record.js';
import { penalisesRepeats, type SamplingSettings } from '../worker/engine/sampling.js';
import { encodeSampling } from '../worker/sampling-object.js';
import { promptObjects, readUint32, TOKEN_BYTES, tokenBytes } from './token-objects.js';

const NO_PAYLOAD = new Uint8Array();

/** What a session is asked. */
export interface SessionPrompt {
  /** At least one. */
  readonly tokens: readonly number[];
  /** How its answer is picked; absent, as planned. */
  readonly sampling: SamplingSettings | undefined;
}

/** The way to the stages. */
export interface SessionPort {
  send(object: StageObject): void;
  /** Forgets what the session has not sent yet. */
  drop(session: bigint): void;
}

/** What an object from token-out means for its session. */
export type SessionNews =
  | { readonly kind: 'token'; readonly token: number }
  /** Nothing is under way any more: a prompt may begin. */
  | { readonly kind: 'idle' }
  /** Every stage has forgotten the session, whose id is never used again. */
  | { readonly kind: 'released' }
  | { readonly kind: 'nothing' }
  /** `problem` goes on a sentence about an object. */
  | { readonly kind: 'unexpected'; readonly problem: string };

type Phase =
  | { readonly kind: 'idle' | 'answering' | 'cancelling' | 'releasing' }
  /** Waits to hear how much every stage has kept. The prompt is absent when it was cancelled in the meantime. */
  | { readonly kind: 'truncating'; readonly asked: number; readonly prompt: SessionPrompt | undefined };

const NOTHING: SessionNews = { kind: 'nothing' };

/** One generation session: what the stages hold of it, and what is under way there. */
export class StageSession {
  /** Tokens whose rows were sent, by position. */
  #held: number[] = [];
  /** After a CANCEL the stages may hold less than was sent. */
  #isUncertain = false;
  /** An answer had sampling of its own: until told otherwise, the last stage goes on with it. */
  #wasSampled = false;
  #phase: Phase = { kind: 'idle' };
  #reused = 0;

  constructor(
    readonly id: bigint,
    readonly microBatch: number,
    readonly port: SessionPort,
  ) {}

  get isIdle(): boolean {
    return this.#phase.kind === 'idle';
  }

  get isReleasing(): boolean {
    return this.#phase.kind === 'releasing';
  }

  /** Tokens of the current prompt that needed no rows. */
  get reused(): number {
    return this.#reused;
  }

  /** Positions that are filled. */
  get length(): number {
    return this.#held.length;
  }

  /** Sends what of a prompt the stages do not hold, one row at least; a token follows. Only when idle. */
  begin(prompt: SessionPrompt): void {
    const { tokens } = prompt;
    const shared = Math.min(sharedLength(this.#held, tokens), tokens.length - 1);
    if (this.#isUncertain || shared < this.#held.length) this.#truncate(shared, prompt);
    else this.#prefill(prompt);
  }

  /** Sends a token back as the next row; another one follows. */
  follow(token: number): void {
    this.#held.push(token);
    this.port.send({ session: this.id, flags: 0, payload: tokenBytes([token]) });
  }

  /** The answer is over, and no token is due. */
  rest(): void {
    this.#phase = { kind: 'idle' };
  }

  /** Ends what is under way; `idle` follows. */
  cancel(): void {
    if (this.#phase.kind === 'truncating') {
      this.#phase = { ...this.#phase, prompt: undefined };
      return;
    }
    this.port.drop(this.id);
    this.#isUncertain = true;
    this.#phase = { kind: 'cancelling' };
    this.port.send({ session: this.id, flags: objectFlags.CANCEL, payload: NO_PAYLOAD });
  }

  /** Frees it in every stage; `released` follows. Only when idle. */
  release(): void {
    this.#phase = { kind: 'releasing' };
    this.port.send({ session: this.id, flags: objectFlags.RELEASE, payload: NO_PAYLOAD });
  }

  /** Takes an object of token-out. */
  receive({ flags, payload }: StageObject): SessionNews {
    const phase = this.#phase;
    switch (phase.kind) {
      case 'answering':
        if (flags === 0 && payload.byteLength === TOKEN_BYTES) return { kind: 'token', token: readUint32(payload) };
        break;
      case 'truncating':
        if (flags === objectFlags.TRUNCATE) return this.#truncated(readUint32(payload), phase.asked, phase.prompt);
        break;
      case 'cancelling':
        // Its last token may have been on its way.
        if (flags === 0) return NOTHING;
        if (flags === objectFlags.CANCEL) return this.#nowIdle();
        break;
      case 'releasing':
        if (flags === objectFlags.RELEASE) return { kind: 'released' };
        break;
    }
    const bytes = payload.byteLength;
    return { kind: 'unexpected', problem: `has flags ${flags} and ${bytes} bytes while the session is ${phase.kind}` };
  }

  #prefill(prompt: SessionPrompt): void {
    this.#reused = this.#held.length;
    this.#phase = { kind: 'answering' };
    if (prompt.sampling !== undefined || this.#wasSampled) this.#sample(prompt);
    const rows = prompt.tokens.slice(this.#held.length);
    this.#held.push(...rows);
    for (const object of promptObjects(this.id, rows, this.microBatch)) this.port.send(object);
  }

  #sample({ tokens, sampling: settings }: SessionPrompt): void {
    this.#wasSampled = true;
    const sampling = settings && {
      settings,
      position: tokens.length,
      promptTail: penalisesRepeats(settings)
        ? tokens.slice(-(settings.repeatLastN || limits.defaultRepeatLastTokens))
        : [],
    };
    this.port.send({ session: this.id, flags: objectFlags.SAMPLING, payload: encodeSampling(sampling) });
  }

  #truncate(asked: number, prompt: SessionPrompt | undefined): void {
    this.#phase = { kind: 'truncating', asked, prompt };
    this.port.send({ session: this.id, flags: objectFlags.TRUNCATE, payload: tokenBytes([asked]) });
  }

  /** A stage that kept less wants to be told again, so that all hold the same. */
  #truncated(kept: number, asked: number, prompt: SessionPrompt | undefined): SessionNews {
    if (kept > asked) return { kind: 'unexpected', problem: `keeps ${kept} positions instead of ${asked} at most` };
    this.#held.length = kept;
    if (kept < asked) {
      this.#truncate(kept, prompt);
      return NOTHING;
    }
    this.#isUncertain = false;
    if (prompt === undefined) return this.#nowIdle();
    this.#prefill(prompt);
    return NOTHING;
  }

  #nowIdle(): SessionNews {
    this.rest();
    return { kind: 'idle' };
  }
}

function sharedLength(a: readonly number[], b: readonly number[]): number {
  const end = Math.min(a.length, b.length);
  for (let index = 0; index < end; index++) if (a[index] !== b[index]) return index;
  return end;
}
