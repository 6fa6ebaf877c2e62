import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { DeviceKind } from '../../gen/stageplane/v1/node.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { PlanRejectionKind as Kind } from '../../gen/stageplane/v1/rejection.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { unaryCall } from '../../src/grpc/client.js';
import { sampleHello } from '../core/machine/samples.js';
import { runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MIB = 1024n ** 2n;
const [model] = await writeTinyModel(join(temporaryFolder(afterAll), 'tiny.gguf'), { layers: 8 });

/** Of a stage of the tiny model nearly all is process and compute buffers: 214 MiB and a little. */
async function joinSmall(address: string, name: string): Promise<ScriptedAgent> {
  const size = 680n * MIB;
  const { descriptor } = sampleHello(name);
  const devices = [
    { deviceId: 'cpu', kind: DeviceKind.DEVICE_KIND_CPU, name: 'cpu', totalBytes: size, freeBytes: size },
  ];
  return ScriptedAgent.join(address, name, { descriptor: { ...descriptor!, devices } });
}

const plan = PlanRequest.fromPartial({
  model: { source: { $case: 'localPath', value: model } },
  settings: { engine: 'fixture' },
  placement: { $case: 'automatic', value: {} },
});

it('memory of a live run is not promised twice, and is free again when its stages are stopped (I7)', async () => {
  const { client, address } = await runOrchestrator();
  const agents = [await joinSmall(address, 'alpha'), await joinSmall(address, 'beta')];
  const create = async (requestId: string) => {
    const { outcome } = await unaryCall(client, Service.createRun, { requestId, plan });
    return outcome?.$case === 'run' ? outcome.value.plan!.stages.map(({ nodeId }) => nodeId) : outcome;
  };
  expect(await create('first')).toEqual([2n]);
  expect(await create('second')).toEqual([3n]);
  expect(await create('third')).toMatchObject({
    $case: 'rejection',
    value: { kind: Kind.PLAN_REJECTION_KIND_NO_NODE_FITS_COMPONENT },
  });
  // Once more the same: a rejection has taken nothing.
  expect(await create('third')).toMatchObject({ $case: 'rejection' });

  await Promise.all(agents.map((agent) => agent.becomeReady()));
  await unaryCall(client, Service.stopRun, { runId: 1n });
  expect(await create('while it stops')).toMatchObject({ $case: 'rejection' });
  await agents[0]!.confirmStop();
  await watchUntil(client, 1n, RunPhase.RUN_PHASE_DONE);
  expect(await create('fourth')).toEqual([2n]);
});

it('a run that expects a dry run gets its placement while that fits, and is told when it does not', async () => {
  const { client, address } = await runOrchestrator();
  await joinSmall(address, 'alpha');
  const { report } = await unaryCall(client, Service.planRun, { plan });
  const expectedPlanId = report!.selected!.planId;
  const create = async (requestId: string, more: object) =>
    (await unaryCall(client, Service.createRun, { requestId, plan, ...more })).outcome;

  await joinSmall(address, 'beta');
  expect(await create('a', { expectedPlanId })).toMatchObject({
    $case: 'run',
    value: { plan: { stages: [{ nodeId: 2n }] } },
  });
  const { outcome, report: fresh } = await unaryCall(client, Service.createRun, {
    requestId: 'b',
    plan,
    expectedPlanId,
  });
  expect(outcome).toMatchObject({
    $case: 'stale',
    value: {
      message: expect.stringMatching(/^node "alpha" would hold .*: look at the new report and ask again$/),
      rejection: { kind: Kind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY },
    },
  });
  expect(fresh?.selected?.placement?.stages).toMatchObject([{ nodeId: 3n }]);
  // Of a dry run that nobody remembers only the id is known.
  expect(await create('c', { expectedPlanId: 'f'.repeat(64) })).toMatchObject({
    $case: 'stale',
    value: { rejection: undefined },
  });
});
