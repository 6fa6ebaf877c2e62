import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { status } from '@grpc/grpc-js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { runSecured } from '../support/secured-orchestrator.js';

/** One patience at a time: whatever ends here ends because of the handshake or of Hello. */
vi.mock('../../src/grpc/patience.js', () => ({
  handshakeMillis: 500,
  helloMillis: 500,
  firstCallMillis: 60 * 60_000,
  firstRequestMillis: 60 * 60_000,
  lastWordsMillis: 60 * 60_000,
  unreadMillis: 60 * 60_000,
}));

async function rawConnection(address: string): Promise<Socket> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const nothing = Buffer.alloc(0);
/** A record of TLS that says it has 512 bytes, and the beginning of a ClientHello in it. */
const halfHello = Buffer.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 1, 2, 3);

test.each([
  ['nothing', 'address', nothing],
  ['half a ClientHello', 'address', halfHello],
  ['nothing, where tokens are redeemed', 'enrollAddress', nothing],
  ['half a ClientHello, where tokens are redeemed', 'enrollAddress', halfHello],
] as const)('a TLS handshake has its time: %s', async (_what, port, bytes) => {
  const socket = await rawConnection((await runSecured())[port]);
  socket.resume().write(bytes);
  await once(socket, 'close');
});

test('a client that answers nothing to a ServerHello has the same time', async () => {
  const { address } = await runSecured();
  const socket = await rawConnection(address);
  socket.write(await clientHello());
  const [answer] = await once(socket, 'data');
  expect(answer[0]).toBe(22);
  socket.resume();
  await once(socket, 'close');
});

/** As Node says it. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1', ALPNProtocols: ['h2'] }).on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = await once(
    socket.on('error', () => {}),
    'data',
  );
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

test('a handshake that is over is not ended, whatever comes later', async () => {
  const { address, operator } = await runSecured();
  const { ca, certificate: cert, privateKey: key } = operator.credentials;
  const [late, silent] = [await rawConnection(address), await rawConnection(address)];
  const socket = connectTls({
    socket: late,
    ca,
    cert,
    key,
    ALPNProtocols: ['h2'],
    checkServerIdentity: () => undefined,
  });
  socket.on('error', () => {}).resume();
  await once(socket, 'secureConnect');
  // Its time began before that of the other one would have ended.
  silent.resume();
  await once(silent, 'close');
  expect(late.destroyed).toBe(false);
});

test('a session has its time to say Hello, and is told so', async () => {
  const { address } = await runOrchestrator();
  const silent = new ScriptedAgent(address);
  const greeted = await ScriptedAgent.join(address, 'alpha');
  expect(await silent.ended).toMatchObject({
    code: status.DEADLINE_EXCEEDED,
    reason: 'HELLO_MISSING',
    message: expect.stringContaining('Hello within 500 ms'),
  });
  // Longer than the patience after it, and still there.
  const later = new ScriptedAgent(address);
  await later.ended;
  greeted.say({ $case: 'heartbeat', value: { sequence: 1n, devices: [], stages: [] } });
  await greeted.next('heartbeatAck');
});
