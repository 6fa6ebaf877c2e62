import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { BindResult } from '../../src/grpc/bind-result.js';
import { bindTcp } from '../../src/grpc/bind-tcp.js';
import { bindUnix } from '../../src/grpc/bind-unix.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { localBounds, publicBounds } from '../../src/grpc/connection-bounds.js';
import { isLoopback, parseListenAddress } from '../../src/grpc/listen-address.js';
import type { Listener } from '../../src/grpc/listener.js';
import { newServer } from '../../src/grpc/new-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const drains: Listener[] = [];
afterEach(() => {
  for (const listener of drains.splice(0)) listener.drain(0);
});

async function tcp(address: string): Promise<BindResult> {
  const { server, connections } = newServer(publicBounds, pino({ level: 'silent' }));
  return kept(await bindTcp(server, address, { connections }));
}

async function unix(path: string, mode: number, prepare: (server: Server) => void = () => {}): Promise<BindResult> {
  const { server, connections } = newServer(localBounds, pino({ level: 'silent' }));
  prepare(server);
  return kept(await bindUnix(server, path, mode, { connections }));
}

function kept(result: BindResult): BindResult {
  if (result.kind === 'bound') drains.push(result);
  return result;
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('a port in use is refused with the address and what to do', async () => {
  const first = await tcp('127.0.0.1:0');
  if (first.kind !== 'bound') throw new Error(first.message);
  expect(await tcp(first.address)).toEqual({
    kind: 'refused',
    reason: 'ADDRESS_IN_USE',
    message: `${first.address} is in use; choose another address with --listen, or stop the process that holds it`,
  });
});

test('an address of another machine, and a text that is none, are refused', async () => {
  // 192.0.2.0/24 is reserved for documentation.
  expect(await tcp('192.0.2.1:7070')).toMatchObject({ reason: 'NO_SUCH_ADDRESS' });
  expect(await tcp('7070')).toMatchObject({
    reason: 'INVALID_ADDRESS',
    message: '"7070" is no address; write host:port, such as 127.0.0.1:7070',
  });
});

test.each([
  ['127.0.0.1:7070', { host: '127.0.0.1', port: 7070 }, true],
  ['127.8.9.1:0', { host: '127.8.9.1', port: 0 }, true],
  ['[::1]:7070', { host: '::1', port: 7070 }, true],
  ['[0:0:0:0:0:0:0:1]:7070', { host: '0:0:0:0:0:0:0:1', port: 7070 }, true],
  ['[::ffff:127.0.0.1]:7070', { host: '::ffff:127.0.0.1', port: 7070 }, true],
  ['LocalHost:7070', { host: 'LocalHost', port: 7070 }, true],
  ['0.0.0.0:7070', { host: '0.0.0.0', port: 7070 }, false],
  ['[::]:7070', { host: '::', port: 7070 }, false],
  ['[::ffff:10.0.0.1]:7070', { host: '::ffff:10.0.0.1', port: 7070 }, false],
  ['127.evil.example:7070', { host: '127.evil.example', port: 7070 }, false],
  ['localhost.example:7070', { host: 'localhost.example', port: 7070 }, false],
  ['alpha.local:65535', { host: 'alpha.local', port: 65_535 }, false],
  ['127.0.0.1:65536', undefined, false],
  ['127.0.0.1', undefined, false],
  ['::1:7070', undefined, false],
  ['[nonsense]:7070', undefined, false],
  [':7070', undefined, false],
  ['', undefined, false],
])('%s reads as %o, loopback %s', (text, address, loopback) => {
  expect(parseListenAddress(text)).toEqual(address);
  expect(isLoopback(text)).toBe(loopback);
});

test('a Unix socket is served in a new folder, with the mode asked for', async () => {
  const path = join(temporaryFolder(), 'run', 'admin.sock');
  const bound = await unix(path, 0o600, (server) =>
    server.addService(
      { listNodes: OrchestratorServiceService.listNodes },
      {
        listNodes: (_call: unknown, callback: (error: null, response: unknown) => void) =>
          callback(null, { nodes: [], nextPageToken: 'over the socket' }),
      },
    ),
  );
  expect(bound).toMatchObject({ kind: 'bound', address: `unix:${path}` });
  expect([modeOf(path), modeOf(join(path, '..'))]).toEqual(['600', '750']);

  const client = dial(`unix:${path}`, OrchestratorServiceClient);
  const page = await unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  expect(page.nextPageToken).toBe('over the socket');
  client.close();
});

test('the socket of a living process is refused and left alone', async () => {
  const path = join(temporaryFolder(), 'admin.sock');
  expect(await unix(path, 0o600)).toMatchObject({ kind: 'bound' });
  expect(await unix(path, 0o600)).toEqual({
    kind: 'refused',
    reason: 'ADDRESS_IN_USE',
    message: `another orchestrator is running on ${path}; stop it, or use another folder`,
  });
  expect(existsSync(path)).toBe(true);
});

test('the socket that a killed process left is replaced', async () => {
  const path = join(temporaryFolder(), 'admin.sock');
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(existsSync(path)).toBe(true);
  expect(await unix(path, 0o660)).toMatchObject({ kind: 'bound' });
  expect(modeOf(path)).toBe('660');
});

test('a file that is no socket is refused and left alone', async () => {
  const path = join(temporaryFolder(), 'admin.sock');
  writeFileSync(path, 'precious');
  expect(await unix(path, 0o600)).toMatchObject({
    reason: 'ADDRESS_IN_USE',
    message: `${path} exists and is no socket; move it away, or use another folder`,
  });
  expect(existsSync(path)).toBe(true);
});

test('a path that is too long or a folder that cannot be made are refused with a sentence', async () => {
  const folder = temporaryFolder();
  const long = join(folder, 'x'.repeat(100), 'admin.sock');
  expect(await unix(long, 0o600)).toMatchObject({
    reason: 'INVALID_ADDRESS',
    message: expect.stringContaining(`has ${long.length} bytes, and 99 is the most`),
  });
  mkdirSync(join(folder, 'a'));
  writeFileSync(join(folder, 'a', 'file'), '');
  expect(await unix(join(folder, 'a', 'file', 'admin.sock'), 0o600)).toMatchObject({
    reason: 'LISTEN_FAILED',
  });
});
