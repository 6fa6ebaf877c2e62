import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What becomes of the bytes of a connection:
 * `pass` them on · `hold` them, as a network does that is away for a while and then delivers · `swallow` them for ever, as a
 * router does that has forgotten the connection: both ends believe that they are sent.
 */
export type Manner = 'pass' | 'hold' | 'swallow';

interface Pipe {
  readonly from: Socket;
  readonly to: Socket;
  /** A connection that has lost bytes can never go on. */
  isDead: boolean;
  readonly held: Buffer[];
}

/** A network in one process: everything that an agent and its orchestrator say to each other goes through here. */
export class TcpProxy {
  /** Milliseconds that each piece is on its way. */
  latency = 0;
  /** Bytes at once, with the latency after each of them: a slow link. */
  pieceBytes = 64 * 1024;
  #manner: Manner = 'pass';
  readonly #pipes = new Set<Pipe>();
  /** Connections made so far. */
  connections = 0;
  /** Told of each piece before it is passed on: a test cuts here. */
  onPiece: () => void = () => {};

  private constructor(
    readonly server: Server,
    /** Where the orchestrator listens; it may change when that comes back elsewhere. */
    public target: string,
  ) {
    server.on('connection', (socket) => this.#join(socket));
  }

  static async open(target: string): Promise<TcpProxy> {
    // A side that has said all may still listen.
    const proxy = new TcpProxy(createServer({ allowHalfOpen: true }), target);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Of every connection, and of those to come. Back at `pass`, what was held is delivered. */
  set manner(manner: Manner) {
    this.#manner = manner;
    for (const pipe of this.#pipes) {
      if (manner === 'swallow') pipe.isDead = true;
      if (manner === 'pass') for (const piece of pipe.held.splice(0)) this.#deliver(pipe, piece);
    }
  }

  /** Ends every connection, by an orderly FIN. */
  cut(): void {
    for (const { from } of this.#pipes) from.destroy();
  }

  /** Ends every connection by a RST, in the middle of whatever it carries. */
  reset(): void {
    for (const { from } of this.#pipes) from.resetAndDestroy();
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  #join(near: Socket): void {
    this.connections += 1;
    const [host = '', port] = this.target.split(':');
    const far = connect({ host, port: Number(port), allowHalfOpen: true });
    this.#pump(near, far);
    this.#pump(far, near);
  }

  #pump(from: Socket, to: Socket): void {
    const pipe: Pipe = { from, to, isDead: this.#manner === 'swallow', held: [] };
    this.#pipes.add(pipe);
    from.on('error', () => {});
    from.on('data', (piece) => this.#take(pipe, piece));
    from.on('end', () => !pipe.isDead && this.#later(() => to.end()));
    from.on('close', () => {
      this.#pipes.delete(pipe);
      // Of a dead connection the other side hears nothing, not even its end.
      if (!pipe.isDead) this.#later(() => to.destroy());
    });
  }

  #take(pipe: Pipe, bytes: Buffer): void {
    for (let start = 0; start < bytes.length; start += this.pieceBytes) {
      const piece = bytes.subarray(start, start + this.pieceBytes);
      this.onPiece();
      if (pipe.isDead) continue;
      if (this.#manner === 'hold') pipe.held.push(piece);
      else this.#deliver(pipe, piece);
    }
    this.#slowDown(pipe);
  }

  #deliver({ to }: Pipe, piece: Buffer): void {
    this.#later(() => to.writable && to.write(piece));
  }

  /** Timers of one length fire in the order in which they were set: nothing overtakes. */
  #later(act: () => void): void {
    if (this.latency === 0) act();
    else setTimeout(act, this.latency);
  }

  #slowDown({ from }: Pipe): void {
    if (this.latency === 0) return;
    from.pause();
    setTimeout(() => from.resume(), this.latency);
  }
}
