import { status } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { limits } from '../../src/core/limits.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

/** As many connections as so many watches need. */
function manyClients(address: string, watches: number): OrchestratorServiceClient[] {
  const clients = Array.from({ length: Math.ceil(watches / limits.streamsPerConnection) }, () =>
    dial(address, OrchestratorServiceClient),
  );
  onTestFinished(() => {
    for (const client of clients) client.close();
  });
  return clients;
}

test('watches that are opened at once do not pass their bound together, and a closed one gives its place back', async () => {
  const { address, client } = await runOrchestrator();
  await ScriptedAgent.join(address, 'alpha');
  await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
  const wanted = limits.watchers + 50;
  const clients = manyClients(address, wanted);
  const watches = Array.from({ length: wanted }, (_, index) =>
    streamCall(clients[index % clients.length]!, Service.watchRun, { runId: 1n, afterRevision: 0n }),
  );
  const first = await Promise.allSettled(watches.map((watch) => watch.next()));
  const refused = first.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(refused).toHaveLength(50);
  for (const error of refused) {
    expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: 'TOO_MANY_WATCHERS' });
  }
  await expect(streamCall(client, Service.watchNodes, {}).next()).rejects.toMatchObject({
    reason: 'TOO_MANY_WATCHERS',
  });
  await watches[first.findIndex(({ status }) => status === 'fulfilled')]!.return();
  const next = async () => {
    const watch = streamCall(client, Service.watchNodes, {});
    try {
      return (await watch.next()).value?.update?.$case;
    } catch {
      return 'refused';
    } finally {
      await watch.return();
    }
  };
  await expect.poll(next, { timeout: 20_000 }).toBe('node');
  await Promise.all(watches.map((watch) => watch.return()));
});
