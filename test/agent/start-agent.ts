import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { ProvisionDelivery } from '../../gen/stageplane/v1/node_agent_service.js';
import { type AgentConfig, type AgentHandle, runAgent } from '../../src/agent/agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** The command of a worker with one habit. */
export function oddWorker(habit: string): readonly string[] {
  return [process.execPath, fileURLToPath(new URL('fixtures/odd-worker.mjs', import.meta.url)), habit];
}

/** An agent with a worker of the given habit, ended with the test. */
export function startAgent(address: string, config: Partial<AgentConfig> = {}): AgentHandle {
  const agent = runAgent({
    orchestrator: [address],
    name: 'alpha',
    dataFolder: config.dataFolder ?? temporaryFolder(),
    models: [],
    workerCommand: oddWorker('good'),
    logger: pino({ level: 'silent' }),
    ...config,
  });
  onTestFinished(async () => {
    await agent.stop();
  });
  return agent;
}

/** A provision of stage 0 of run 7 for node 2. */
export function provisionOf(
  localPath: string,
  patch: { deliveryId?: bigint; generation?: number; engine?: string } = {},
) {
  const { deliveryId = 1n, generation = 1, engine = 'odd' } = patch;
  return ProvisionDelivery.fromPartial({
    deliveryId,
    generation,
    epoch: 1n,
    stages: [
      {
        provision: {
          runId: 7n,
          nodeId: 2n,
          stageIndex: 0,
          stageCount: 1,
          ggufSource: { source: { $case: 'localPath', value: localPath } },
        },
        settings: { engine, device: 'cpu' },
        producerNodeId: 1n,
      },
    ],
  });
}

export const stopOf = (generation = 1) => ({
  deliveryId: 9n,
  runId: 7n,
  stageIndex: 0,
  generation,
  reason: 'run 7 ended',
  epoch: 1n,
});
