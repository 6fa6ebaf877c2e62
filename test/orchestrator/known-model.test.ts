import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { unaryCall } from '../../src/grpc/client.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

const planOf = (value: string) =>
  PlanRequest.fromPartial({
    model: { source: { $case: 'localPath', value } },
    placement: { $case: 'automatic', value: {} },
    settings: { engine: 'fixture' },
  });

test('a dry run weighs a well-known model without its file; a run of it needs the file', async () => {
  const { client, address } = await runOrchestrator();
  await ScriptedAgent.join(address, 'alpha');
  const { outcome, report } = await unaryCall(client, Service.planRun, { plan: planOf('llama3.1:70b@q4_k_m') });
  expect(outcome?.$case).toBe('rejection');
  expect(report?.candidates.length).toBeGreaterThan(1);
  expect(report?.candidates.flatMap(({ reasons }) => reasons).join()).toMatch(/needs .*GiB/);

  const create = unaryCall(client, Service.createRun, { requestId: 'r', plan: planOf('llama3.1:70b@q4_k_m') });
  await expect(create).rejects.toMatchObject({ code: status.NOT_FOUND, reason: 'MODEL_NOT_FOUND' });
  const unknown = unaryCall(client, Service.planRun, { plan: planOf('nobody:1b') });
  await expect(unknown).rejects.toMatchObject({ code: status.NOT_FOUND, reason: 'MODEL_NOT_FOUND' });
});
