import {
  GenerateText,
  type TextDone,
  type TextRefused,
  type TokenEndpointEvent,
} from '../../gen/stageplane/v1/token_endpoint.js';
import { byteTokenizer } from '../../src/token-endpoint/byte-tokenizer.js';
import type { AnswerBounds } from '../../src/token-endpoint/check-open.js';
import { PromptScheduler } from '../../src/token-endpoint/prompt-scheduler.js';
import { readUint32, tokenBytes } from '../../src/token-endpoint/token-objects.js';
import type { Tokenizer } from '../../src/token-endpoint/tokenizer.js';
import { objectFlags, type StageObject } from '../../src/worker/edge/object-record.js';

const { MORE, RELEASE, CANCEL, TRUNCATE } = objectFlags;

type Event = NonNullable<TokenEndpointEvent['event']>;

/**
 * A scheduler between a reader and one stage that keeps what it is told. The token that follows is what `next` makes
 * of all that a session holds. Objects wait until `step` or `settle`.
 */
export class EchoStages {
  readonly scheduler: PromptScheduler;
  readonly events: Event[] = [];
  /** Everything that was sent, in order. */
  readonly sent: StageObject[] = [];
  /** What the stages hold of each session. */
  readonly held = new Map<bigint, number[]>();
  /** Positions that a TRUNCATE may keep at most. */
  keepAtMost = Number.POSITIVE_INFINITY;
  /** Set while the scheduler waits for something. */
  alarm: (() => void) | undefined;
  #clock = 0;
  /** As real stages have it: after a CANCEL, or a TRUNCATE that fell short, rows mean nothing. */
  readonly #mustTruncate = new Set<bigint>();
  readonly #inFlight: StageObject[] = [];

  constructor(
    bounds: Partial<AnswerBounds> = {},
    readonly next: (tokens: readonly number[]) => number = (tokens) => tokens.at(-1)! + 1,
    tokenizer: Partial<Tokenizer> = {},
  ) {
    this.scheduler = new PromptScheduler(
      { contextLength: 64, microBatch: 4, sessions: 2, maxTokens: 0, firstSession: 1n, ...bounds },
      { ...byteTokenizer, ...tokenizer },
      {
        say: (event) => this.events.push(event),
        now: () => this.#clock++,
        later: (_, call) => {
          this.alarm = call;
          return () => {
            this.alarm = undefined;
          };
        },
        send: (object) => {
          this.sent.push(object);
          this.#inFlight.push(object);
        },
        drop: (session) => {
          const kept = this.#inFlight.filter((object) => object.session !== session);
          this.#inFlight.splice(0, this.#inFlight.length, ...kept);
        },
      },
    );
  }

  generate(requestId: string, prompt: string, more: Partial<GenerateText> = {}): void {
    this.scheduler.generate(GenerateText.fromPartial({ requestId, prompt, ...more }));
  }

  /** One object passes through the stages; false when there is none. `pick` chooses the session whose turn it is. */
  step(pick = 0): boolean {
    const sessions = [...new Set(this.#inFlight.map(({ session }) => session))];
    if (sessions.length === 0) return false;
    const session = sessions[pick % sessions.length];
    const [object] = this.#inFlight.splice(
      this.#inFlight.findIndex((candidate) => candidate.session === session),
      1,
    ) as [StageObject];
    const answer = this.#answerTo(object);
    if (answer === undefined) return true;
    const outcome = this.scheduler.receive({ session: object.session, ...answer });
    if (outcome.kind === 'unexpected') throw new Error(outcome.problem);
    return true;
  }

  settle(): void {
    while (this.step());
  }

  text(requestId: string): string {
    return this.events
      .map((event) => (event.$case === 'delta' && event.value.requestId === requestId ? event.value.text : ''))
      .join('');
  }

  done(requestId: string): TextDone | undefined {
    const event = this.events.find(({ $case, value }) => $case === 'done' && value.requestId === requestId);
    return event?.value as TextDone | undefined;
  }

  refused(requestId: string): TextRefused | undefined {
    const event = this.events.find(({ $case, value }) => $case === 'refused' && value.requestId === requestId);
    return event?.value as TextRefused | undefined;
  }

  #answerTo({ session, flags, payload }: StageObject): Pick<StageObject, 'flags' | 'payload'> | undefined {
    const held = this.held.get(session) ?? [];
    this.held.set(session, held);
    switch (flags) {
      case RELEASE:
        this.held.delete(session);
        return { flags, payload };
      case CANCEL:
        this.#mustTruncate.add(session);
        return { flags, payload };
      case TRUNCATE:
        held.length = Math.min(held.length, readUint32(payload), this.keepAtMost);
        if (held.length === readUint32(payload)) this.#mustTruncate.delete(session);
        else this.#mustTruncate.add(session);
        return { flags, payload: tokenBytes([held.length]) };
      default:
        if (this.#mustTruncate.has(session)) throw new Error(`rows of session ${session} came before a TRUNCATE`);
        for (let offset = 0; offset < payload.length; offset += 4) held.push(readUint32(payload.subarray(offset)));
        return flags === MORE ? undefined : { flags: 0, payload: tokenBytes([this.next(held)]) };
    }
  }
}
