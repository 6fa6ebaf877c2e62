import { lookup } from 'node:dns/promises';
import type { Server } from '@grpc/grpc-js';
import type { BindRefusal, BindResult } from './bind-result.js';
import { parseListenAddress, withPort } from './listen-address.js';
import { type Door, type Listener, listen } from './listener.js';

/** Makes a server listen on `host:port`; on every address of a name such as `localhost`, as far as there are more. */
export async function bindTcp(server: Server, address: string, door: Door): Promise<BindResult> {
  const parsed = parseListenAddress(address);
  if (parsed === undefined) {
    return refuse('INVALID_ADDRESS', `"${address}" is no address; write host:port, such as 127.0.0.1:7070`);
  }
  const listeners: Listener[] = [];
  try {
    const [first, ...others] = await lookup(parsed.host, { all: true });
    const main = await listen(server, { host: first?.address ?? parsed.host, port: parsed.port }, door);
    listeners.push(main);
    for (const { address: host } of others) {
      // One is enough: a name may have addresses of a family that this machine does not speak.
      await listen(server, { host, port: main.port }, door).then(
        (more) => listeners.push(more),
        () => {},
      );
    }
    const drain = async (graceMillis: number) => {
      await Promise.all(listeners.map((listener) => listener.drain(graceMillis)));
    };
    return { kind: 'bound', address: withPort(address, main.port), drain };
  } catch (error) {
    return bindRefusal(address, error as NodeJS.ErrnoException, '--listen');
  }
}

/** Why nobody could listen, with the flag that says where else. */
export function bindRefusal(address: string, { code, message }: NodeJS.ErrnoException, flag: string): BindRefusal {
  switch (code) {
    case 'EADDRINUSE':
      return refuse(
        'ADDRESS_IN_USE',
        `${address} is in use; choose another address with ${flag}, or stop the process that holds it`,
      );
    case 'EACCES':
      return refuse('NOT_PERMITTED', `${address} is not allowed for this user; choose a port above 1023 with ${flag}`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return refuse(
        'NO_SUCH_ADDRESS',
        `${address} is no address of this machine; choose one with ${flag}, or 0.0.0.0 for all of them`,
      );
    default:
      return refuse('LISTEN_FAILED', `cannot listen on ${address} (${message}); choose another address with ${flag}`);
  }
}

function refuse(reason: BindRefusal['reason'], message: string): BindRefusal {
  return { kind: 'refused', reason, message };
}
