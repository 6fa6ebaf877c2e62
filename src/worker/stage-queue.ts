import { limits } from '../core/limits.js';
import type { ObjectRecord } from './edge/object-record.js';

/** What an object costs the stage: nothing to speak of, one row, or up to a micro-batch of rows. */
export type Lane = 'control' | 'decode' | 'prefill';

/**
 * Objects that wait at a stage. Within a session they keep their order; between sessions what decodes goes before what
 * prefills, and equals take turns. The edge's ring bounds it (I16).
 */
export class StageQueue {
  /** Every session that has objects here, with them in order. */
  readonly #waiting = new Map<bigint, ObjectRecord[]>();
  /** Each waiting session once, by the lane of its first object. */
  readonly #lanes: Record<Lane, bigint[]> = { control: [], decode: [], prefill: [] };
  #decodesInARow = 0;

  constructor(readonly laneOf: (object: ObjectRecord) => Lane) {}

  add(object: ObjectRecord): void {
    const waiting = this.#waiting.get(object.session);
    if (waiting !== undefined) {
      waiting.push(object);
      return;
    }
    this.#waiting.set(object.session, [object]);
    this.#line(object);
  }

  /** What is due next; it stays. */
  peek(): ObjectRecord | undefined {
    const session = this.#lanes[this.#dueLane()][0];
    return session === undefined ? undefined : this.#waiting.get(session)![0];
  }

  /** Takes what is due next; only when `peek` gives something. */
  take(): ObjectRecord {
    const lane = this.#dueLane();
    const session = this.#lanes[lane].shift()!;
    if (lane !== 'control') this.#decodesInARow = lane === 'decode' ? this.#decodesInARow + 1 : 0;
    const waiting = this.#waiting.get(session)!;
    const object = waiting.shift()!;
    if (waiting.length === 0) this.#waiting.delete(session);
    else this.#line(waiting[0]!);
    return object;
  }

  /** Takes all objects of a session out of their turn. */
  drop(session: bigint): ObjectRecord[] {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) return [];
    this.#waiting.delete(session);
    const lane = this.#lanes[this.laneOf(waiting[0]!)];
    lane.splice(lane.indexOf(session), 1);
    return waiting;
  }

  #line(object: ObjectRecord): void {
    this.#lanes[this.laneOf(object)].push(object.session);
  }

  #dueLane(): Lane {
    const { control, decode, prefill } = this.#lanes;
    if (control.length > 0) return 'control';
    const prefillIsDue = decode.length === 0 || this.#decodesInARow >= limits.decodesBeforePrefill;
    return prefillIsDue && prefill.length > 0 ? 'prefill' : 'decode';
  }
}
