import { once } from 'node:events';
import { createServer } from 'node:net';
import { isLoopback, parseListenAddress } from '../../grpc/listen-address.js';
import { type Check, failed, ok, warning } from '../check.js';
import { lockState } from '../lock-state.js';
import { portHolder } from '../port-holder.js';

/** Bound for a moment, and nobody is answered meanwhile. */
export const listenCheck: Check = {
  name: 'address',
  roles: ['orchestrator'],
  look: async ({ listen, dataFolder }) => {
    const address = parseListenAddress(listen);
    if (!address) return failed(`${listen} is no address`, 'write host:port, such as 127.0.0.1:7070');
    const problem = await bindProblem(address);
    if (problem === undefined) {
      const message = `${listen} is free`;
      return isLoopback(listen)
        ? ok(message)
        : warning(`${message}, but nobody is authenticated there`, 'use it on a network you trust');
    }
    if (problem.code !== 'EADDRINUSE') {
      return failed(`cannot listen on ${listen} (${problem.message})`, 'choose another address with --listen');
    }
    const holder = portHolder(address.port);
    const lock = lockState(dataFolder);
    if (lock.kind === 'held' && holder?.pid === lock.pid) return ok(`${listen} is held by the orchestrator itself`);
    const who = holder
      ? `process ${holder.pid} (${holder.name})`
      : 'a process that cannot be told, of another user perhaps';
    return failed(`${listen} is held by ${who}`, 'stop it, or choose another address with --listen');
  },
};

async function bindProblem({ host, port }: { host: string; port: number }): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  } finally {
    server.close();
  }
}
