import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { Mailbox } from './mailbox.js';

export interface Beacon {
  readonly port: number;
  /** `up NAME` when a process has come, `down NAME` when it has ended. */
  readonly signs: Mailbox<string>;
}

/** Processes connect here, and the kernel says when they end: no process has to be looked for. */
export async function openBeacon(): Promise<Beacon> {
  const signs = new Mailbox<string>();
  const server = createServer((socket) => {
    let name = '';
    socket.on('error', () => {});
    createInterface({ input: socket }).on('line', (line) => {
      name = line;
      signs.put(`up ${name}`);
    });
    socket.on('close', () => signs.put(`down ${name}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, signs };
}
