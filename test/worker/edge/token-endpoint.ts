import type { EdgeContract } from '../../../src/worker/edge/edge-contract.js';
import { EdgeDialer } from '../../../src/worker/edge/edge-dialer.js';
import type { EdgeFault } from '../../../src/worker/edge/edge-fault.js';
import { type EdgeListener, listenForEdge } from '../../../src/worker/edge/edge-listener.js';
import { type ObjectRecord, objectFlags } from '../../../src/worker/edge/object-record.js';

export interface EndpointEdge {
  readonly socket: string;
  readonly contract: EdgeContract;
}

const { MORE, RELEASE, CANCEL, TRUNCATE } = objectFlags;

/** Both ends of a chain of stages, as the token endpoint has them: token ids in, token objects out. */
export class TokenEndpoint {
  /** Everything that came out, in order. */
  readonly received: ObjectRecord[] = [];
  readonly faults: EdgeFault[] = [];
  readonly #taken = new Map<bigint, number>();
  #waiting: (() => void)[] = [];

  private constructor(
    readonly dialer: EdgeDialer,
    readonly listener: EdgeListener,
  ) {}

  /** Resolves once it listens; the stages may come later. */
  static async open(tokenIn: EndpointEdge, tokenOut: EndpointEdge): Promise<TokenEndpoint> {
    let endpoint: TokenEndpoint;
    const onFault = (fault: EdgeFault) => {
      endpoint.faults.push(fault);
      endpoint.#wake();
    };
    const listening = await listenForEdge(tokenOut.socket, tokenOut.contract, {
      onReady: () => {},
      onObject: (object) => {
        endpoint.received.push(object);
        endpoint.#wake();
        endpoint.listener.taken(object);
      },
      onFault,
      onNote: () => {},
    });
    if (listening.kind === 'refused') throw new Error(listening.fault.message);
    const dialer = new EdgeDialer(tokenIn.socket, tokenIn.contract, {
      onReady: () => {},
      onRoom: () => endpoint.#wake(),
      onFault,
      onNote: () => {},
    });
    endpoint = new TokenEndpoint(dialer, listening.listener);
    return endpoint;
  }

  close(): void {
    this.dialer.close();
    this.listener.close();
  }

  /** The next object of a session that has not been asked for yet. */
  async next(session: bigint): Promise<ObjectRecord> {
    for (;;) {
      const taken = this.#taken.get(session) ?? 0;
      const object = this.received.filter((candidate) => candidate.session === session)[taken];
      if (object !== undefined) {
        this.#taken.set(session, taken + 1);
        return object;
      }
      if (this.faults.length > 0) throw new Error(this.faults[0]!.message);
      await this.#change();
    }
  }

  async nextToken(session: bigint): Promise<number> {
    const { flags, payload } = await this.next(session);
    if ((flags & ~RELEASE) !== 0) throw new Error(`flags ${flags} came instead of a token`);
    return Buffer.from(payload).readUInt32LE();
  }

  async send(session: bigint, flags: number, payload: Uint8Array = Buffer.alloc(0)): Promise<void> {
    while (!this.dialer.hasRoom(payload.byteLength)) await this.#change();
    this.dialer.send({ session, flags, payload });
  }

  /** A prompt in pieces of `microBatch` tokens. */
  async prompt(session: bigint, ids: readonly number[], microBatch: number): Promise<void> {
    for (let start = 0; start < ids.length; start += microBatch) {
      const flags = start + microBatch < ids.length ? MORE : 0;
      await this.send(session, flags, tokenBytes(ids.slice(start, start + microBatch)));
    }
  }

  /** The tokens that follow: the one that is due and `count - 1` more, each sent back as the next row. */
  async follow(session: bigint, count: number): Promise<number[]> {
    const tokens = [await this.nextToken(session)];
    while (tokens.length < count) {
      await this.send(session, 0, tokenBytes(tokens.slice(-1)));
      tokens.push(await this.nextToken(session));
    }
    return tokens;
  }

  async release(session: bigint): Promise<void> {
    await this.send(session, RELEASE);
    const { flags } = await this.next(session);
    if (flags !== RELEASE) throw new Error(`flags ${flags} came instead of the release`);
  }

  /** Cancels and gives the objects that still came before the confirmation. */
  async cancel(session: bigint): Promise<ObjectRecord[]> {
    await this.send(session, CANCEL);
    const before: ObjectRecord[] = [];
    for (;;) {
      const object = await this.next(session);
      if (object.flags === CANCEL) return before;
      before.push(object);
    }
  }

  /** Truncates and gives the position that every stage has kept. */
  async truncate(session: bigint, position: number): Promise<number> {
    await this.send(session, TRUNCATE, tokenBytes([position]));
    const { flags, payload } = await this.next(session);
    if (flags !== TRUNCATE) throw new Error(`flags ${flags} came instead of the truncation`);
    return Buffer.from(payload).readUInt32LE();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export function tokenBytes(ids: readonly number[]): Buffer {
  const bytes = Buffer.alloc(ids.length * 4);
  for (const [index, id] of ids.entries()) bytes.writeUInt32LE(id, index * 4);
  return bytes;
}
