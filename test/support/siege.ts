import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { expect, onTestFinished } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { initialise } from '../../src/orchestrator/initialise.js';
import { type Credentials, readCredentials } from '../../src/pki/credential-folder.js';
import { authorityFolder } from '../../src/pki/is-initialised.js';
import { Child } from '../cli/child.js';
import { preface, settingsFrame } from './http2-frames.js';
import { credentialsOf } from './secured-orchestrator.js';
import { signedCredentials } from './signed-credentials.js';
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
    /** Where tokens are redeemed; undefined in plain text. */
    readonly enrollAddress: string | undefined,
    readonly httpUrl: string,
    private readonly pid: number,
    readonly client: OrchestratorServiceClient,
    private readonly viewer: Credentials | undefined,
  ) {}

  /** @param secured whether all connections are over mutual TLS, with the certificate of a viewer */
  static async begin({ secured = false } = {}): Promise<Siege> {
    const data = temporaryFolder();
    if (secured) await initialise({ dataFolder: data, names: [], force: false });
    const viewer = secured ? await signedCredentials(data, { lifetime: 60 * 60_000 }) : undefined;
    const environment = { STAGEPLANE_PATIENCE_MILLIS: '2000', STAGEPLANE_KEEPALIVE_MILLIS: '2000' };
    const words = ['orchestrator', '--json', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', data];
    const child = new Child([...words, '--log-level', 'fatal'], environment);
    onTestFinished(async () => {
      child.process.kill('SIGKILL');
      await child.end();
    });
    await child.shown('stdout', '\n');
    const { address, enrollAddress, httpUrl } = JSON.parse(child.stdout);
    const client = dial(address, OrchestratorServiceClient, clientOptions, secured ? operatorOf(data) : undefined);
    onTestFinished(() => client.close());
    const siege = new Siege(address, enrollAddress, httpUrl, child.process.pid!, client, viewer);
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

  /** A connection over which nothing has been said yet, but for the TLS handshake of a secured siege. */
  async connect(): Promise<Socket> {
    if (!this.viewer) return this.connectRaw();
    const { ca, certificate: cert, privateKey: key } = this.viewer;
    const socket = connectTls({ ...placeOf(this.address), ca, cert, key, ALPNProtocols: ['h2'] });
    this.#keep(socket);
    // One that is refused during its handshake is one that was ended.
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => {});
    return socket;
  }

  /** A connection that has said nothing at all. */
  async connectRaw(address = this.address): Promise<Socket> {
    const socket = connect(placeOf(address));
    this.#keep(socket);
    await once(socket, 'connect');
    return socket;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket.on('error', () => {}).resume());
    socket.once('close', () => this.#sockets.delete(socket));
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

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const [host = '', port] = address.split(':');
  return { host, port: Number(port) };
}

/** The honest client is another one than who attacks: calls are counted by certificate. */
function operatorOf(dataFolder: string): ChannelCredentials {
  const operator = readCredentials(authorityFolder(dataFolder), 'admin');
  if (operator.kind !== 'read') throw new Error('init made no certificate for the operator');
  return credentialsOf(operator.credentials);
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
    if (!socket.write(next(round++))) await drained(socket);
    await new Promise(setImmediate);
  }
}

/** Resolves when there is room again, or never will be. */
async function drained(socket: Socket): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })]).catch(() => {});
  waiting.abort();
}

/** Resolves when the other side has ended every one of them. */
export async function allEnded(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket, 'close').catch(() => {}))));
}
