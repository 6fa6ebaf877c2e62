import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';

/** How many connections a listener has at most (I16). */
export interface ConnectionBounds {
  /** In all. */
  readonly total: number;
  /** From one address; a Unix socket is one. */
  readonly perAddress: number;
  /** That have not made a call yet. */
  readonly strangers: number;
  /** Milliseconds that one may take to make its first call, its TLS handshake included; undefined: for ever. */
  readonly firstCallMillis: number | undefined;
  /** Milliseconds that its socket may outlive its HTTP/2 session, or twice as many. */
  readonly lastWordsMillis: number;
}

type Session = Pick<Http2Session, 'destroyed'>;

interface Connection {
  readonly socket: Socket;
  readonly from: string;
  readonly timer: NodeJS.Timeout | undefined;
  /** From its first call. */
  session?: Session | undefined;
  /** Its session was over when we last looked. */
  isEnding?: boolean;
}

/**
 * The connections of one listener. One is a stranger until its first call; when there are too many, the oldest stranger goes,
 * from the address that has the most: an honest client calls at once, and one that floods pushes out its own.
 */
export class Connections {
  private readonly open = new Map<string, Connection>();
  private readonly perAddress = new Map<string, number>();
  /** By address, the oldest first. */
  private readonly strangers = new Map<string, Map<string, Connection>>();
  private strangerCount = 0;
  private nextUnix = 1;
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly bounds: ConnectionBounds,
    private readonly logger?: Logger,
  ) {}

  get size(): number {
    return this.open.size;
  }

  /** Takes a new connection in, or ends it. */
  admit(socket: Socket): boolean {
    const { remoteAddress: from = 'unix', remotePort = this.nextUnix++ } = socket;
    if (!this.makeRoom(from)) {
      this.logger?.debug({ peer: from }, 'connection refused: too many are open');
      socket.destroy();
      return false;
    }
    const id = nameOf(from, remotePort);
    const connection: Connection = { socket, from, timer: this.await(id) };
    this.open.set(id, connection);
    this.looking ??= setInterval(() => this.endSilenced(), this.bounds.lastWordsMillis).unref();
    this.perAddress.set(from, (this.perAddress.get(from) ?? 0) + 1);
    const group = this.strangers.get(from) ?? new Map<string, Connection>();
    this.strangers.set(from, group.set(id, connection));
    this.strangerCount += 1;
    socket.once('close', () => this.forget(id, connection));
    return true;
  }

  /** A call has begun on the connection from there: it is a stranger no more. */
  called(from: string, port: number, session: Session | undefined): void {
    const id = nameOf(from, port);
    const connection = this.open.get(id);
    if (!connection) return;
    connection.session = session;
    this.introduce(id, connection);
  }

  /** Ends those that have not made a call: nothing of theirs is lost. */
  dropStrangers(): void {
    for (const group of this.strangers.values()) for (const { socket } of group.values()) socket.destroy();
  }

  /** Ends all, whatever they carry. */
  dropAll(): void {
    for (const { socket } of this.open.values()) socket.destroy();
  }

  /**
   * A session that is destroyed waits for the write that is under way, and only then ends its socket. Over TLS that write may
   * never be over, and nobody reads any more who would notice that the peer has gone: the socket would stay for ever.
   */
  private endSilenced(): void {
    for (const connection of this.open.values()) {
      if (!connection.session?.destroyed) continue;
      if (connection.isEnding) connection.socket.destroy();
      connection.isEnding = true;
    }
  }

  private makeRoom(from: string): boolean {
    const { total, perAddress, strangers } = this.bounds;
    if ((this.perAddress.get(from) ?? 0) >= perAddress && !this.dropOldest(from)) return false;
    if (this.strangerCount >= strangers && !this.dropOldest(this.mostCrowded())) return false;
    return this.open.size < total || this.dropOldest(this.mostCrowded());
  }

  private mostCrowded(): string | undefined {
    let found: string | undefined;
    let most = 0;
    for (const [from, group] of this.strangers) {
      if (group.size <= most) continue;
      found = from;
      most = group.size;
    }
    return found;
  }

  private dropOldest(from: string | undefined): boolean {
    const [oldest] = (from !== undefined && this.strangers.get(from)) || [];
    if (!oldest) return false;
    const [id, connection] = oldest;
    // Forgotten at once: its socket says so only later, and there may be another by then.
    this.forget(id, connection);
    connection.socket.destroy();
    return true;
  }

  private await(id: string): NodeJS.Timeout | undefined {
    const { firstCallMillis } = this.bounds;
    if (firstCallMillis === undefined) return undefined;
    return setTimeout(() => this.open.get(id)?.socket.destroy(), firstCallMillis).unref();
  }

  private introduce(id: string, { from, timer }: Connection): void {
    clearTimeout(timer);
    const group = this.strangers.get(from);
    if (!group?.delete(id)) return;
    this.strangerCount -= 1;
    if (group.size === 0) this.strangers.delete(from);
  }

  private forget(id: string, connection: Connection): void {
    if (this.open.get(id) !== connection) return;
    this.open.delete(id);
    this.introduce(id, connection);
    const { from } = connection;
    const left = (this.perAddress.get(from) ?? 1) - 1;
    if (left === 0) this.perAddress.delete(from);
    else this.perAddress.set(from, left);
    if (this.open.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }
}

function nameOf(from: string, port: number): string {
  return `${from} ${port}`;
}
