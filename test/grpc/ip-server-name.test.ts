import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { hostOfServerName, ipServerName } from '../../src/grpc/ip-server-name.js';
import { packageRoot } from '../../src/package-root.js';
import { credentialsOf, runSecured } from '../support/secured-orchestrator.js';

test.each(['127.0.0.1', '10.0.0.5', '::1', '2001:db8::7', 'fe80::1:2:3:4', '::ffff:10.0.0.1'])(
  '%s has a name that TLS takes',
  (host) => {
    const name = ipServerName(host)!;
    expect(name).toMatch(/^[a-z0-9.-]+$/);
    expect(hostOfServerName(name)).toBe(host);
  },
);

test.each(['localhost', 'server.lan', 'v4-server.lan'])('%s is its own name', (host) => {
  expect(ipServerName(host)).toBeUndefined();
  expect(hostOfServerName(host)).toBe(host);
});

test('a server is still known by the address that was dialled: one that its certificate does not name is refused', async () => {
  const { address, operator } = await runSecured();
  const listRuns = (host: string) => {
    const client = dial(
      address.replace('127.0.0.1', host),
      OrchestratorServiceClient,
      clientOptions,
      credentialsOf(operator.credentials),
    );
    const request = { pageSize: 0, pageToken: '', activeOnly: false };
    return unaryCall(client, Service.listRuns, request).finally(() => client.close());
  };
  expect(await listRuns('127.0.0.1')).toMatchObject({ runs: [] });
  await expect(listRuns('127.0.0.2')).rejects.toMatchObject({
    code: status.UNAVAILABLE,
    message: expect.stringContaining('127.0.0.2'),
  });
});

test('nobody who types an address is warned of it', async () => {
  const { address, dataFolder } = await runSecured();
  const program = `${packageRoot()}/dist/src/cli/main.js`;
  const env = { ...process.env, STAGEPLANE_DATA: dataFolder };
  const child = spawn(process.execPath, [program, 'nodes', 'list', '--orchestrator', address], { env });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
