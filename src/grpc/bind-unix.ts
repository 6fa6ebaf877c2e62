import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { dirname, resolve as resolvePath } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { probeSocket } from '../process/probe-socket.js';
import type { BindRefusal, BindResult } from './bind-result.js';
import { type Door, listen } from './listener.js';

/**
 * Makes a server listen on a Unix socket. A missing folder is made with mode 0750; a socket that nobody answers on, left
 * by a process that was killed, is removed; one that somebody answers on is never touched.
 *
 * @param mode of the socket, such as 0o600; the folder keeps others away until it is set
 */
export async function bindUnix(server: Server, socketPath: string, mode: number, door: Door): Promise<BindResult> {
  const path = resolvePath(socketPath);
  const length = Buffer.byteLength(path);
  if (length > limits.socketPathBytes) {
    return refuse(
      'INVALID_ADDRESS',
      `the socket path ${path} has ${length} bytes, and ${limits.socketPathBytes} is the most; use a shorter folder`,
    );
  }
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o750 });
    const obstacle = await clearStaleSocket(path);
    if (obstacle !== undefined) return obstacle;
    const listener = await listen(server, { path }, door);
    await chmod(path, mode);
    return { kind: 'bound', address: `unix:${path}`, drain: (graceMillis) => listener.drain(graceMillis) };
  } catch (error) {
    return refuse('LISTEN_FAILED', `cannot listen on ${path} (${(error as Error).message}); use another folder`);
  }
}

async function clearStaleSocket(path: string): Promise<BindRefusal | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isSocket()) {
    return refuse('ADDRESS_IN_USE', `${path} exists and is no socket; move it away, or use another folder`);
  }
  switch (await probeSocket(path)) {
    case 'stale':
      await unlink(path);
      return undefined;
    case 'live':
      return refuse('ADDRESS_IN_USE', `another orchestrator is running on ${path}; stop it, or use another folder`);
    case 'unknown':
      return refuse('NOT_PERMITTED', `${path} belongs to someone else; remove it as its owner, or use another folder`);
  }
}

function refuse(reason: BindRefusal['reason'], message: string): BindRefusal {
  return { kind: 'refused', reason, message };
}
