import type { Server, ServerCredentials } from '@grpc/grpc-js';
import type { BindRefusal, BindResult } from './bind-result.js';
import { parseListenAddress } from './listen-address.js';

/**
 * Makes a server listen on `host:port`. After a refusal the server cannot try the same address again: grpc-js remembers
 * the failure, so make a new one.
 */
export async function bindTcp(server: Server, address: string, credentials: ServerCredentials): Promise<BindResult> {
  const parsed = parseListenAddress(address);
  if (parsed === undefined) {
    return refuse('INVALID_ADDRESS', `"${address}" is no address; write host:port, such as 127.0.0.1:7070`);
  }
  return new Promise((resolve) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) resolve(explain(address, error));
      else
        resolve({
          kind: 'bound',
          address: `${address.slice(0, address.lastIndexOf(':'))}:${port}`,
        });
    });
  });
}

function explain(address: string, { message }: Error): BindRefusal {
  // grpc-js folds the system's errors into one text; the codes in it are all there is to go by.
  if (message.includes('EADDRINUSE')) {
    return refuse(
      'ADDRESS_IN_USE',
      `${address} is in use; choose another address with --listen, or stop the process that holds it`,
    );
  }
  if (message.includes('EACCES')) {
    return refuse('NOT_PERMITTED', `${address} is not allowed for this user; choose a port above 1023 with --listen`);
  }
  if (/EADDRNOTAVAIL|ENOTFOUND|EAI_|Name resolution/.test(message)) {
    return refuse(
      'NO_SUCH_ADDRESS',
      `${address} is no address of this machine; choose one with --listen, or 0.0.0.0 for all of them`,
    );
  }
  return refuse('LISTEN_FAILED', `cannot listen on ${address} (${message}); choose another address with --listen`);
}

function refuse(reason: BindRefusal['reason'], message: string): BindRefusal {
  return { kind: 'refused', reason, message };
}
