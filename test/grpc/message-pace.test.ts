import { expect, onTestFinished, test, vi } from 'vitest';
import { NodeAgentServiceClient } from '../../gen/stageplane/v1/node_agent_service.js';
import { dial } from '../../src/grpc/client.js';
import { ending, signalled, startTestServer } from './test-server.js';

const AT_ONCE = 5;

// So slow that the next one never comes while the test runs.
vi.mock('../../src/core/limits.js', async (original) => {
  const { limits } = await original<typeof import('../../src/core/limits.js')>();
  return { limits: { ...limits, messagesAtOnce: 5, messagesPerSecond: 1e-6 } };
});

test('beyond what a stream may say at once, messages wait, and those of another stream do not', async () => {
  const heard: bigint[][] = [];
  const full = [signalled(), signalled()];
  const subscribe = async (requests: AsyncIterable<{ message?: unknown }>) => {
    const mine: bigint[] = [];
    const index = heard.push(mine) - 1;
    for await (const { message } of requests) {
      mine.push((message as { value: { sequence: bigint } }).value.sequence);
      if (mine.length === AT_ONCE) full[index]?.resolve();
    }
  };
  const server = await startTestServer({ agent: { subscribe } });
  const client = dial(server.address, NodeAgentServiceClient);
  onTestFinished(async () => {
    client.close();
    await server.bound.drain(0);
  });
  const expected = Array.from({ length: AT_ONCE }, (_, index) => BigInt(index));
  // All of one stream is on the wire before anything of the next, and over the same connection.
  for (const { promise } of full) {
    const stream = client.subscribe().on('error', () => {});
    for (let sequence = 0n; sequence < 2 * AT_ONCE; sequence += 1n) {
      stream.write({ message: { $case: 'heartbeat', value: { sequence, devices: [], stages: [] } } });
    }
    await promise;
    onTestFinished(async () => {
      stream.cancel();
      await ending(stream);
    });
  }
  expect(heard).toEqual([expected, expected]);
});
