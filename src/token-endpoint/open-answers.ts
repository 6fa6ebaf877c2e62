import {
  type TextDelta,
  TextDone,
  TextDoneReason,
  type TextRefused,
  type TokenEndpointEvent,
} from '../../gen/stageplane/v1/token_endpoint.js';

/** Who asked for an answer: gets `refused`, or deltas and then `done`. */
export interface AnswerReader {
  delta(delta: TextDelta): void;
  done(done: TextDone): void;
  refused(refusal: TextRefused): void;
}

type AnswerEvent = Extract<NonNullable<TokenEndpointEvent['event']>, { $case: 'delta' | 'done' | 'refused' }>;

/** The answers of one endpoint that are not over, and their readers. */
export class OpenAnswers {
  readonly #readers = new Map<string, AnswerReader>();
  #lastId = 0;

  /** Gives an id that no other answer of this endpoint has. */
  add(reader: AnswerReader): string {
    this.#lastId += 1;
    const requestId = String(this.#lastId);
    this.#readers.set(requestId, reader);
    return requestId;
  }

  pass(event: AnswerEvent): void {
    const reader = this.#readers.get(event.value.requestId);
    // Its answer was ended here, and the endpoint had not heard of that yet.
    if (reader === undefined) return;
    if (event.$case !== 'delta') this.#readers.delete(event.value.requestId);
    if (event.$case === 'delta') reader.delta(event.value);
    else if (event.$case === 'done') reader.done(event.value);
    else reader.refused(event.value);
  }

  /** Nothing more will come from the endpoint. */
  end(message: string): void {
    const reason = TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE;
    const ended = [...this.#readers];
    this.#readers.clear();
    for (const [requestId, reader] of ended) reader.done(TextDone.fromPartial({ requestId, reason, message }));
  }
}
