import { type ObjectRecord, objectFlags, type StageObject } from '../worker/edge/object-record.js';
import { type Lane, StageQueue } from '../worker/stage-queue.js';
import { TOKEN_BYTES } from './token-objects.js';

/** The producer's end of token-in. */
export interface TokenIn {
  /** When not, `TokenOutbox.flush` follows. */
  hasRoom(payloadBytes: number): boolean;
  send(object: StageObject): void;
}

/**
 * Objects that wait for room on token-in, in the order that stages use too: sessions take turns, and what decodes goes
 * before what prefills. Bounded by the sessions of the run and the context of each (I16).
 */
export class TokenOutbox {
  readonly #queue = new StageQueue(laneOf);

  constructor(readonly tokenIn: TokenIn) {}

  send(object: StageObject): void {
    // The edge numbers objects when it sends them.
    this.#queue.add({ ...object, sequence: 0 });
    this.flush();
  }

  /** Forgets what a session has not sent yet. */
  drop(session: bigint): void {
    this.#queue.drop(session);
  }

  /** Sends what there is room for. */
  flush(): void {
    for (let object = this.#queue.peek(); object !== undefined; object = this.#queue.peek()) {
      if (!this.tokenIn.hasRoom(object.payload.byteLength)) return;
      this.tokenIn.send(this.#queue.take());
    }
  }
}

function laneOf({ flags, payload }: ObjectRecord): Lane {
  if (flags !== 0 && flags !== objectFlags.MORE) return 'control';
  return flags === 0 && payload.byteLength === TOKEN_BYTES ? 'decode' : 'prefill';
}
