import { type SessionPort, StageSession } from './stage-session.js';

/**
 * The generation sessions that the stages hold: as many as each of them has room for (I16). One that no conversation
 * owns is released; one that does stays until another prompt needs its room, the one that rested longest first.
 */
export class SessionPool {
  readonly #sessions = new Map<bigint, StageSession>();
  /** Sessions with an answer, or with one that is being cancelled. */
  readonly #taken = new Set<StageSession>();
  /** By conversation, the one that rested longest first. */
  readonly #conversations = new Map<string, StageSession>();
  #nextId: bigint;

  constructor(
    readonly capacity: number,
    readonly microBatch: number,
    readonly port: SessionPort,
    firstId: bigint,
  ) {
    this.#nextId = firstId;
  }

  /** Sessions that the stages hold. */
  get size(): number {
    return this.#sessions.size;
  }

  find(id: bigint): StageSession | undefined {
    return this.#sessions.get(id);
  }

  /**
   * An idle session for a prompt of `conversation`, or of none when that is empty. Undefined when there is none; if that
   * is for want of room, room is on its way: ask again after `forget` or `giveBack`.
   */
  take(conversation: string): StageSession | undefined {
    const own = this.#conversations.get(conversation);
    if (own !== undefined && !this.#taken.has(own)) return this.#use(own);
    // Its answer before this one comes first.
    if (own !== undefined) return undefined;
    if (this.#sessions.size >= this.capacity) {
      this.#makeRoom();
      return undefined;
    }
    const session = new StageSession(this.#nextId, this.microBatch, this.port);
    this.#nextId += 1n;
    this.#sessions.set(session.id, session);
    if (conversation !== '') this.#conversations.set(conversation, session);
    return this.#use(session);
  }

  /** The session is idle, and nobody waits for it any more. */
  giveBack(session: StageSession): void {
    this.#taken.delete(session);
    const owner = this.#ownerOf(session);
    if (owner === undefined) {
      session.release();
      return;
    }
    // A map keeps the order of insertion.
    this.#conversations.delete(owner);
    this.#conversations.set(owner, session);
  }

  /** Frees the session of a conversation, at once or when it is given back. */
  endConversation(conversation: string): void {
    const session = this.#conversations.get(conversation);
    this.#conversations.delete(conversation);
    if (session !== undefined && !this.#taken.has(session)) session.release();
  }

  /** Every stage has released it. */
  forget(session: StageSession): void {
    this.#sessions.delete(session.id);
  }

  #use(session: StageSession): StageSession {
    this.#taken.add(session);
    return session;
  }

  #makeRoom(): void {
    const isOnItsWay = [...this.#sessions.values()].some(({ isReleasing }) => isReleasing);
    if (isOnItsWay) return;
    const resting = [...this.#conversations].find(([, session]) => !this.#taken.has(session));
    if (resting !== undefined) this.endConversation(resting[0]);
  }

  #ownerOf(session: StageSession): string | undefined {
    return [...this.#conversations].find(([, owned]) => owned === session)?.[0];
  }
}
