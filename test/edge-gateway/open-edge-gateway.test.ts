import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GatewayConfig, openEdgeGateway } from '../../src/edge-gateway/open-edge-gateway.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { openGateway } from './edge-ends.js';

function attempt(folder: string, config: Partial<GatewayConfig>) {
  return openEdgeGateway({ localSocket: join(folder, 'local.sock'), onNote: () => {}, ...config });
}

describe('a gateway', () => {
  test('listens on a port of its choice and on a socket that is its user’s alone, and leaves neither behind', async () => {
    const folder = temporaryFolder();
    const runtime = join(folder, 'runtime');
    const { gateway } = await openGateway(runtime, 'local', { listen: '127.0.0.1:0' });
    expect(gateway.address).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
    expect(statSync(runtime).mode & 0o777).toBe(0o700);
    expect(statSync(gateway.localSocket).mode & 0o777).toBe(0o600);
    const { address } = gateway;
    await gateway.close();
    expect(gateway.address).toBe('127.0.0.1:0');
    await gateway.close();
    expect(readdirSync(runtime)).toEqual([]);
    const again = await openGateway(runtime, 'local', { listen: address });
    expect(again.gateway.address).toBe(address);
  });

  test('takes the place of a socket whose process was killed', async () => {
    const folder = temporaryFolder();
    const [local, remote] = [join(folder, 'local.sock'), join(folder, 'remote.sock')];
    for (const path of [local, remote]) {
      const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
      spawnSync(process.execPath, ['-e', script]);
      expect(existsSync(path)).toBe(true);
    }
    const { gateway } = await openGateway(folder, 'local', { listen: `unix:${remote}` });
    expect(gateway.address).toBe(`unix:${remote}`);
    await gateway.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('never touches a socket that is answered, nor a file, and opens nothing by halves', async () => {
    const folder = temporaryFolder();
    const first = await openGateway(folder, 'first', { listen: `unix:${join(folder, 'node.sock')}` });
    const second = await attempt(folder, { listen: first.gateway.address });
    expect(second).toMatchObject({
      kind: 'refused',
      reason: 'LISTEN_FAILED',
      message: expect.stringContaining('node.sock: another process listens there'),
    });
    expect(existsSync(join(folder, 'local.sock'))).toBe(false);
    writeFileSync(join(folder, 'local.sock'), 'mine');
    expect(await attempt(folder, {})).toMatchObject({ message: expect.stringContaining('a file that is no socket') });
    expect(existsSync(join(folder, 'local.sock'))).toBe(true);
  });
});

describe('is refused', () => {
  test.each<[Partial<GatewayConfig>, string, string]>([
    [{ listen: '0.0.0.0:0' }, 'INSECURE_ADDRESS', '--edge-listen is 0.0.0.0:0, and nothing is encrypted'],
    [{ listen: '0.0.0.0:0' }, 'INSECURE_ADDRESS', 'add --insecure-edges on a network you trust'],
    [{ listen: '[::]:0' }, 'INSECURE_ADDRESS', '[::]:0'],
    [{ listen: 'everywhere' }, 'MALFORMED_FLAG', '--edge-listen has no address in "everywhere"'],
    [{ template: 'a:1' }, 'MALFORMED_FLAG', '--edge-template a:1'],
    [{ listen: '192.0.2.1:7400', insecureEdges: true }, 'LISTEN_FAILED', 'cannot listen on 192.0.2.1:7400'],
  ])('%j: %s', async (config, reason, sentence) => {
    const outcome = await attempt(temporaryFolder(), config);
    expect(outcome).toMatchObject({ kind: 'refused', reason, message: expect.stringContaining(sentence) });
  });

  test('but not when it was asked for', async () => {
    const { gateway } = await openGateway(temporaryFolder(), 'local', { listen: '0.0.0.0:0', insecureEdges: true });
    expect(gateway.address).toMatch(/^0\.0\.0\.0:\d+$/);
  });
});
