import { statSync } from 'node:fs';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AdminServiceClient, AdminServiceService as Service } from '../../gen/stageplane/v1/admin_service.js';
import { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { version } from '../../src/version.js';
import { samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

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
    ['listAuditEvents', { pageSize: 0, pageToken: '' }],
    ['backup', { path: 'x' }],
  ] as const)('answers UNIMPLEMENTED with a sentence: %s', async (method, request) => {
    const { admin } = await administer();
    const call = unaryCall(admin, Service[method] as never, request as never);
    await expect(call).rejects.toMatchObject({ code: status.UNIMPLEMENTED, message: /not in this version: / });
  });

  it('is not reached through the port of launchers', async () => {
    const { address } = await administer();
    const outside = dial(address, AdminServiceClient);
    onTestFinished(() => outside.close());
    await expect(unaryCall(outside, Service.getServerInfo, {})).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });
});
