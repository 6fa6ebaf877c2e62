import { expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { PlanRejectionKind as Kind } from '../../gen/stageplane/v1/rejection.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { samplePlan } from '../core/machine/samples.js';
import { runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

const engines = [{ name: 'llama.cpp', build: '1', deviceIds: ['cpu'], features: [] }];

it('threads of a live run are not given twice, and are free again when its stages are stopped', async () => {
  const { client, address } = await runOrchestrator();
  // Of 4 cores each.
  const agents = [
    await ScriptedAgent.join(address, 'alpha', { engines }),
    await ScriptedAgent.join(address, 'beta', { engines }),
  ];
  const create = (requestId: string, threads: number) => {
    const settings = StageSettings.fromPartial({ engine: 'llama.cpp', threads });
    return unaryCall(client, Service.createRun, { requestId, plan: { ...samplePlan([2n, 3n]), settings } });
  };
  const threadsOf = async (requestId: string, threads: number) => {
    const { outcome } = await create(requestId, threads);
    return outcome?.$case === 'run' ? outcome.value.settings.map((stage) => stage.threads) : outcome;
  };

  expect(await threadsOf('first', 3)).toEqual([3, 3]);
  expect(await threadsOf('second', 2)).toMatchObject({
    $case: 'rejection',
    value: {
      kind: Kind.PLAN_REJECTION_KIND_NODE_NOT_SCHEDULABLE,
      message: expect.stringMatching(/^node "alpha" has 4 cores, of which run 1 has 3: 1 stage of 2 threads needs 2;/),
    },
  });
  // What is left.
  expect(await threadsOf('third', 0)).toEqual([1, 1]);
  expect(await threadsOf('fourth', 0)).toMatchObject({ $case: 'rejection' });

  await Promise.all(agents.map((agent) => agent.becomeReady()));
  await unaryCall(client, Service.stopRun, { runId: 1n });
  await Promise.all(agents.map((agent) => agent.confirmStop()));
  await watchUntil(client, 1n, RunPhase.RUN_PHASE_DONE);
  expect(await threadsOf('fifth', 0)).toEqual([3, 3]);
});

it('a node without a free core is left out where nobody names nodes', async () => {
  const { client, address } = await runOrchestrator();
  await ScriptedAgent.join(address, 'alpha', { engines });
  await ScriptedAgent.join(address, 'beta', { engines });
  const settings = StageSettings.fromPartial({ engine: 'llama.cpp', threads: 4 });
  await unaryCall(client, Service.createRun, { requestId: 'a', plan: { ...samplePlan([2n]), settings } });
  const { placement: _, ...open } = samplePlan([]);
  const { report } = await unaryCall(client, Service.planRun, { plan: { ...open, settings } });
  expect(report?.exclusions).toMatchObject([{ nodeName: 'alpha', reason: 'no-cores' }]);
  expect(report?.selected?.placement?.stages).toMatchObject([{ nodeId: 3n }]);
});
