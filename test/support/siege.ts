import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { Child } from '../cli/child.js';
import { preface, settingsFrame } from './http2-frames.js';
import { temporaryFolder } from './temporary-folder.js';

/** What a process holds; its memory in MiB. */
export interface Holdings {
  readonly memory: number;
  readonly files: number;
}

/** The real daemon in a process of its own, an honest client of it, and connections to attack it by. */
export class Siege {
  readonly #sockets = new Set<Socket>();

  private constructor(
    readonly address: string,
    private readonly pid: number,
    readonly client: OrchestratorServiceClient,
  ) {}

  static async begin(): Promise<Siege> {
    const environment = { STAGEPLANE_PATIENCE_MILLIS: '2000', STAGEPLANE_KEEPALIVE_MILLIS: '2000' };
    const words = ['orchestrator', '--json', '--listen', '127.0.0.1:0', '--data', temporaryFolder()];
    const child = new Child([...words, '--log-level', 'fatal'], environment);
    onTestFinished(async () => {
      child.process.kill('SIGKILL');
      await child.end();
    });
    await child.shown('stdout', '\n');
    const { address } = JSON.parse(child.stdout);
    const client = dial(address, OrchestratorServiceClient);
    onTestFinished(() => client.close());
    const siege = new Siege(address, child.process.pid!, client);
    onTestFinished(() => siege.#leave());
    await siege.ask();
    return siege;
  }

  /** What an honest client does. */
  async ask(): Promise<void> {
    await unaryCall(this.client, Service.listNodes, { pageSize: 1, pageToken: '' });
  }

  get holds(): Holdings {
    const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
    return { memory: Number(kibibytes) / 1024, files: readdirSync(`/proc/${this.pid}/fd`).length };
  }

  /** A connection that has said nothing yet. */
  async connect({ reads = true } = {}): Promise<Socket> {
    const [host, port] = this.address.split(':');
    const socket = connect(Number(port), host).on('error', () => {});
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (reads) socket.resume();
    await once(socket, 'connect');
    return socket;
  }

  /**
   * Attacks while an honest client goes on asking: its calls must succeed, and afterwards the daemon must hold little more
   * than before.
   *
   * @returns what it held at most
   */
  async withstand(name: string, attack: () => Promise<void>): Promise<Holdings> {
    const before = this.holds;
    let most = before;
    let slowest = 0;
    let isOver = false;
    const honest = (async () => {
      while (!isOver) {
        const asked = performance.now();
        await this.ask();
        slowest = Math.max(slowest, performance.now() - asked);
        const { memory, files } = this.holds;
        most = { memory: Math.max(most.memory, memory), files: Math.max(most.files, files) };
        await sleep(5);
      }
    })();
    await Promise.all([attack().finally(() => (isOver = true)), honest]);
    this.#leave();
    await expect.poll(() => this.holds.files, { timeout: 30_000 }).toBeLessThanOrEqual(before.files + 2);
    await this.ask();
    const figures = [before.memory, most.memory, this.holds.memory].map(Math.round).join(' -> ');
    console.log(`${name}: ${figures} MiB, ${most.files} files, slowest honest call ${Math.round(slowest)} ms`);
    return { memory: most.memory - before.memory, files: most.files };
  }

  #leave(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/**
 * Writes what `next` makes until there was so much or the other side has hung up, and then anew on another connection.
 * Never waits for an answer.
 */
export async function flood(siege: Siege, rounds: number, next: (round: number) => Buffer, first = settingsFrame()) {
  let socket: Socket | undefined;
  let round = 0;
  for (let done = 0; done < rounds; done += 1) {
    if (!socket || socket.destroyed || !socket.writable) {
      socket = await siege.connect();
      socket.write(Buffer.concat([preface, first]));
      round = 0;
    }
    if (!socket.write(next(round++)))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    await new Promise(setImmediate);
  }
}

/** Resolves when the other side has ended every one of them. */
export async function allEnded(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket, 'close').catch(() => {}))));
}
