import { expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../src/grpc/client.js';
import { Cluster } from './cluster.js';
import { loading } from './loading.js';

it("a stage's log comes from its agent, while the stage lives and after it has stopped", async () => {
  const cluster = await Cluster.start(['alpha']);
  const runId = await cluster.create('r', 1);
  await loading(cluster.client, runId, 1);
  const request = { runId, stageIndex: 0, maxLines: 10 };
  let live = await unaryCall(cluster.client, Service.getStageLog, request);
  // The log has a pipe of its own, so its lines may come later than the worker's word that it loads.
  while (live.lines.length === 0) live = await unaryCall(cluster.client, Service.getStageLog, request);
  expect(live).toEqual({ lines: ['waiting for the gate'], fromFault: false });

  await unaryCall(cluster.client, Service.stopRun, { runId });
  expect((await unaryCall(cluster.client, Service.getStageLog, request)).lines).toContain('waiting for the gate');
  const beyond = unaryCall(cluster.client, Service.getStageLog, { ...request, stageIndex: 1 });
  await expect(beyond).rejects.toMatchObject({ reason: 'STAGE_NOT_FOUND' });
  expect(await cluster.end()).toEqual([]);
});
