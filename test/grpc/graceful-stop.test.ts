import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { HealthCheckResponse_ServingStatus, HealthClient, HealthService } from '../../gen/grpc/health/v1/health.js';
import { NodeAgentServiceClient, type SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { gracefulStop } from '../../src/grpc/graceful-stop.js';
import { Health } from '../../src/grpc/health.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import type { StreamEnd, StreamWriter } from '../../src/grpc/stream-writer.js';
import { ending, signalled, startTestServer } from './test-server.js';

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;
const { getRun, watchNodes } = OrchestratorServiceService;

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function keep<C extends { close(): void }>(client: C): C {
  cleanups.push(() => client.close());
  return client;
}

test('health follows the server, for the whole and for each service', async () => {
  const { server, bound, address, streams } = await startTestServer();
  cleanups.push(() => bound.drain(0));
  const health = new Health(['stageplane.v1.OrchestratorService']);
  health.addTo(server, streams);
  const client = keep(dial(address, HealthClient));
  const check = async (service: string) => (await unaryCall(client, HealthService.check, { service })).status;

  expect(await check('')).toBe(NOT_SERVING);
  health.setServing();
  expect([await check(''), await check('stageplane.v1.OrchestratorService')]).toEqual([SERVING, SERVING]);
  await expect(check('stageplane.v1.Nonsense')).rejects.toMatchObject({ code: status.NOT_FOUND });

  const unknown = streamCall(client, HealthService.watch, { service: 'x' });
  expect((await unknown.next()).value?.status).toBe(SERVICE_UNKNOWN);
  await unknown.return();
});

test('a stop says NOT_SERVING and GoAway, then ends every stream UNAVAILABLE, by itself', async () => {
  const sessions: StreamWriter<SubscribeResponse>[] = [];
  const opened = signalled();
  const ended = signalled<StreamEnd>();
  const { server, bound, address, streams } = await startTestServer({
    agent: {
      subscribe: async (_requests, stream) => {
        sessions.push(stream);
        opened.resolve();
        ended.resolve(await stream.closed);
      },
    },
    orchestrator: {
      watchNodes: async (_request, stream, { signal }) => {
        stream.write({ update: undefined });
        // A body that heeds nothing but its signal must end too.
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    },
  });
  const health = new Health([]);
  health.addTo(server, streams);
  health.setServing();

  const agent = keep(dial(address, NodeAgentServiceClient)).subscribe();
  agent.on('error', () => {});
  const heard: (string | undefined)[] = [];
  agent.on('data', ({ message }: SubscribeResponse) => heard.push(message?.$case));
  const watching = streamCall(keep(dial(address, OrchestratorServiceClient)), watchNodes, {});
  await watching.next();
  const healthWatch = streamCall(keep(dial(address, HealthClient)), HealthService.watch, { service: '' });
  expect((await healthWatch.next()).value?.status).toBe(SERVING);
  await opened.promise;
  expect(streams.size).toBe(3);

  const sendGoAway = () => {
    for (const session of sessions) {
      session.write({ message: { $case: 'goAway', value: { retryDelayMillis: 1000n, reason: 'restart' } } });
    }
  };
  const agentEnding = ending(agent);
  // Far more patience than the test has: it must not be needed.
  const outcome = gracefulStop({ listeners: [bound], streams, health, sendGoAway, patienceMillis: 600_000 });
  expect((await healthWatch.next()).value?.status).toBe(NOT_SERVING);
  await expect(healthWatch.next()).rejects.toMatchObject({ code: status.UNAVAILABLE });
  await expect(watching.next()).rejects.toMatchObject({ code: status.UNAVAILABLE, reason: 'SHUTTING_DOWN' });
  expect((await agentEnding).code).toBe(status.UNAVAILABLE);
  expect(heard).toEqual(['goAway']);
  expect(await ended.promise).toMatchObject({ kind: 'failed', error: { reason: 'SHUTTING_DOWN' } });
  expect(await outcome).toBe('drained');
  expect(streams.size).toBe(0);
});

test('a call in flight may finish; one that never does is cut', async () => {
  const release = signalled();
  const entered = [signalled(), signalled()];
  let entries = 0;
  const { bound, address, streams } = await startTestServer({
    orchestrator: {
      getRun: async ({ runId }) => {
        entered[entries++]?.resolve();
        await (runId === 1n ? release.promise : new Promise(() => {}));
        return { run: undefined };
      },
    },
  });
  const client = keep(dial(address, OrchestratorServiceClient));
  const polite = unaryCall(client, getRun, { runId: 1n });
  const stuck = unaryCall(client, getRun, { runId: 2n }).catch((error: unknown) => error);
  await Promise.all(entered.map(({ promise }) => promise));
  const outcome = gracefulStop({ listeners: [bound], streams, patienceMillis: 3000 });
  release.resolve();
  expect(await polite).toEqual({ run: undefined });
  expect(await outcome).toBe('forced');
  expect(await stuck).toMatchObject({ name: 'RpcError' });
});

test('a stream that opens after the streams were ended is ended too', async () => {
  const { streams, bound, address } = await startTestServer({
    orchestrator: {
      watchNodes: async (_request, stream) => {
        await stream.closed;
      },
    },
  });
  cleanups.push(() => bound.drain(0));
  streams.failAll(new RpcError(status.UNAVAILABLE, 'SHUTTING_DOWN', 'the orchestrator is stopping'));
  const late = streamCall(keep(dial(address, OrchestratorServiceClient)), watchNodes, {});
  await expect(late.next()).rejects.toMatchObject({ code: status.UNAVAILABLE, reason: 'SHUTTING_DOWN' });
});
