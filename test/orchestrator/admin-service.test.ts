import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AdminServiceClient, AdminServiceService as Service } from '../../gen/stageplane/v1/admin_service.js';
import { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import { version } from '../../src/version.js';
import { samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';

async function administer() {
  const orchestrator = await runOrchestrator();
  const admin = dial(`unix:${orchestrator.adminSocket}`, AdminServiceClient);
  onTestFinished(() => admin.close());
  return { ...orchestrator, admin };
}

describe('the admin socket', () => {
  it('belongs to its owner alone and tells who the orchestrator is', async () => {
    const { admin, adminSocket, address, dataFolder, client } = await administer();
    expect(statSync(adminSocket).mode & 0o777).toBe(0o600);
    await ScriptedAgent.join(address, 'alpha');
    await unaryCall(client, OrchestratorServiceService.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    const info = await unaryCall(admin, Service.getServerInfo, {});
    expect(info).toMatchObject({
      version,
      dataFolder,
      listenAddress: address,
      epoch: 1n,
      connectedNodes: 1,
      activeRuns: 1,
    });
    expect(info.clusterId).not.toBe('');
  });

  it('is gone when the orchestrator has stopped', async () => {
    const { adminSocket, stop } = await administer();
    await stop();
    expect(() => statSync(adminSocket)).toThrow('ENOENT');
  });

  it('changes the log level, and names the levels that there are', async () => {
    const { admin } = await administer();
    await unaryCall(admin, Service.setLogLevel, { level: 'error' });
    const refused = unaryCall(admin, Service.setLogLevel, { level: 'loud' });
    await expect(refused).rejects.toMatchObject({ reason: 'UNKNOWN_LOG_LEVEL', message: /use one of .*debug/ });
  });

  it.each([
    ['createJoinToken', { nodeName: '', ttlMillis: 0n, role: '' }],
    ['revokeCertificate', { serial: '1' }],
  ] as const)('says what to do first where nobody has a certificate: %s', async (method, request) => {
    const { admin } = await administer();
    const call = unaryCall(admin, Service[method] as never, request as never);
    await expect(call).rejects.toMatchObject({ reason: 'NOT_INITIALISED', message: /stageplane init/ });
  });

  it('makes a backup while all goes on, and says of what', async () => {
    const { admin, address } = await administer();
    await ScriptedAgent.join(address, 'alpha');
    const path = join(temporaryFolder(), 'backup');
    const made = await unaryCall(admin, Service.backup, { path, force: false });
    const { revision, now, backup } = await unaryCall(admin, Service.getServerInfo, {});
    expect(made).toEqual({ bytes: BigInt(statSync(path).size), revision });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect([typeof now?.getTime(), backup]).toEqual(['number', undefined]);
  });

  it('refuses a backup without an absolute path, over a file, or in the data folder by whatever way', async () => {
    const { admin, dataFolder } = await administer();
    const folder = temporaryFolder();
    const existing = join(folder, 'existing');
    writeFileSync(existing, 'mine');
    symlinkSync(dataFolder, join(folder, 'link'));
    const refusal = (path: string, force = false) =>
      unaryCall(admin, Service.backup, { path, force }).then(
        () => 'made',
        ({ codeName, reason }: RpcError) => `${codeName} ${reason}`,
      );
    expect(await refusal('backup')).toBe('INVALID_ARGUMENT INVALID_FIELDS');
    expect(await refusal(existing)).toBe('ALREADY_EXISTS BACKUP_EXISTS');
    expect(await refusal(join(dataFolder, 'stageplane.db'), true)).toBe('INVALID_ARGUMENT INVALID_FIELDS');
    expect(await refusal(join(folder, 'link', 'stageplane.db'), true)).toBe('INVALID_ARGUMENT INVALID_FIELDS');
    expect(await refusal(join(folder, 'missing', 'x'))).toBe('FAILED_PRECONDITION BACKUP_NO_FOLDER');
    expect(readFileSync(existing, 'utf8')).toBe('mine');
    expect(readdirSync(folder).sort()).toEqual(['existing', 'link']);
  });

  it('makes one backup at a time, and none is half left of one whose caller went away', async () => {
    const { admin } = await administer();
    const folder = temporaryFolder();
    const leaving = new AbortController();
    const backup = (name: string, signal?: AbortSignal) =>
      unaryCall(admin, Service.backup, { path: join(folder, name), force: false }, signal ? { signal } : {});
    const [first, second] = await Promise.allSettled([backup('first'), backup('second')]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ reason: { reason: 'BACKUP_UNDER_WAY' } });
    const third = backup('third', leaving.signal);
    leaving.abort();
    await expect(third).rejects.toMatchObject({ code: status.CANCELLED });
    // The next one begins when that one is over.
    await expect
      .poll(
        () =>
          backup('fourth').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    // It may have been whole before the word came; of one that was not, nothing is there.
    expect(readdirSync(folder).filter((name) => name !== 'third')).toEqual(['first', 'fourth']);
  });

  it('is not reached through the port of launchers', async () => {
    const { address } = await administer();
    const outside = dial(address, AdminServiceClient);
    onTestFinished(() => outside.close());
    await expect(unaryCall(outside, Service.getServerInfo, {})).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });
});
