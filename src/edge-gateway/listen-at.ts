import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import type { Server } from 'node:net';
import { prepareSocketPath } from '../process/prepare-socket-path.js';
import { type EdgeAddress, formatEdgeAddress } from './edge-address.js';
import { type GatewayRefusal, refuse } from './gateway-refusal.js';

/**
 * Makes a server listen, at a Unix path for this user alone; a refusal is LISTEN_FAILED. Closing the server removes its
 * socket.
 */
export async function listenAt(server: Server, address: EdgeAddress): Promise<GatewayRefusal | undefined> {
  try {
    const problem =
      address.kind === 'unix' ? await listenAtPath(server, address.path) : await listenAtPort(server, address);
    return problem === undefined ? undefined : refuseToListen(address, problem);
  } catch (error) {
    return refuseToListen(address, `${(error as Error).message}: choose another address`);
  }
}

async function listenAtPath(server: Server, path: string): Promise<string | undefined> {
  const prepared = await prepareSocketPath(path);
  if (prepared.kind === 'occupied') return prepared.problem;
  server.listen(path);
  await once(server, 'listening');
  await chmod(path, 0o600);
  return undefined;
}

async function listenAtPort(server: Server, { host, port }: Extract<EdgeAddress, { kind: 'tcp' }>): Promise<undefined> {
  server.listen({ host, port });
  await once(server, 'listening');
}

function refuseToListen(address: EdgeAddress, problem: string): GatewayRefusal {
  return refuse('LISTEN_FAILED', `the edge gateway cannot listen on ${formatEdgeAddress(address)}: ${problem}`);
}
