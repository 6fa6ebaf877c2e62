import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { NodeAgentServiceService as Agents } from '../../gen/stageplane/v1/node_agent_service.js';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Role } from '../../src/core/role.js';
import { unaryCall } from '../../src/grpc/client.js';
import { descriptorSet } from '../../src/grpc/descriptor-set.js';
import { accessTable } from '../../src/orchestrator/access-table.js';
import { runSecured } from '../support/secured-orchestrator.js';

/** The operator's socket, and the port of those who have no certificate. */
const elsewhere = ['stageplane.v1.AdminService', 'stageplane.v1.EnrollmentService'];

// Written out a second time, since the table cannot vouch for itself.
const spoken = {
  viewer: ['ListRuns', 'GetRun', 'WatchRun', 'WatchEvents', 'GetStageLog', 'ListNodes', 'GetNode', 'WatchNodes'],
  launcher: ['InspectModel', 'PlanRun', 'CreateRun', 'StopRun', 'DeleteRun', 'Generate'],
  admin: ['CordonNode', 'UncordonNode', 'DrainNode', 'DeleteNode'],
};

test('a viewer only looks, a launcher also runs, an admin also takes nodes away, and an agent does none of it', () => {
  const allowed = (role: Role) =>
    Object.values(OrchestratorServiceService)
      .filter(({ path }) => accessTable[path]?.includes(role))
      .map(({ path }) => path.split('/').at(-1) ?? '')
      .sort();
  const { viewer, launcher, admin } = spoken;
  expect(allowed('viewer')).toEqual([...viewer].sort());
  expect(allowed('launcher')).toEqual([...viewer, ...launcher].sort());
  expect(allowed('admin')).toEqual([...viewer, ...launcher, ...admin].sort());
  expect(allowed('agent')).toEqual([]);
  expect(accessTable[Agents.subscribe.path]).toEqual(['agent']);
});

test('names every method that mutual TLS leads to, and no other', () => {
  const known = new Set(
    [...descriptorSet().registry]
      .filter((type) => type.kind === 'service')
      .filter(({ typeName }) => !elsewhere.includes(typeName))
      .flatMap((service) => service.methods.map(({ name }) => `/${service.typeName}/${name}`)),
  );
  const named = Object.keys(accessTable).filter((path) => !path.startsWith('/grpc.'));
  expect(named.sort()).toEqual([...known].filter((path) => !path.startsWith('/grpc.')).sort());
  expect([...known].filter((path) => accessTable[path] === undefined)).toEqual([]);
});

test('holds for every method and role: one that is missing is refused by name, before the request is read', async () => {
  const orchestrator = await runSecured();
  const holders = {
    agent: (await orchestrator.enrol('agent', 'alpha')).credentials,
    launcher: (await orchestrator.enrol('launcher', 'lena')).credentials,
    viewer: (await orchestrator.enrol('viewer', 'vera')).credentials,
    admin: orchestrator.operator.credentials,
  };
  for (const [role, credentials] of Object.entries(holders)) {
    const client = orchestrator.call(OrchestratorServiceClient, credentials);
    for (const { path } of Object.values({ ...OrchestratorServiceService, ...Agents })) {
      const method = {
        path,
        requestSerialize: () => Buffer.from([0xff]),
        responseDeserialize: (bytes: Buffer) => bytes,
      };
      const refused = await unaryCall(client, method, {}).then(
        () => undefined,
        (error) => error,
      );
      const roles = accessTable[path] as readonly string[];
      if (roles.includes(role)) expect([path, refused?.reason]).not.toEqual([path, 'ROLE_MISSING']);
      else {
        expect([path, role, refused]).toMatchObject([
          path,
          role,
          { code: status.PERMISSION_DENIED, reason: 'ROLE_MISSING' },
        ]);
        expect(refused.message).toContain(roles.join(' or '));
      }
    }
  }
});
