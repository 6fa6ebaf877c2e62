import pino from 'pino';
import { expect, test } from 'vitest';
import {
  GenerateRequest,
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import type { TokenEndpoints } from '../../src/orchestrator/text/token-endpoints.js';
import { samplePlan } from '../core/machine/samples.js';
import { readyEndpoints } from '../support/ready-endpoints.mjs';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { credentialsOf, runSecured } from '../support/secured-orchestrator.js';

const defect = 'ENOENT: /srv/models/secret.gguf, node-7.internal:7071';

/** An orchestrator with a run whose token endpoint, when anybody looks for it, fails as nobody has foreseen. */
async function broken() {
  const log: Record<string, unknown>[] = [];
  let isBroken = false;
  const find = (): never | undefined => {
    if (isBroken) throw new TypeError(defect);
  };
  const tokenEndpoints = (post: Parameters<typeof readyEndpoints>[0]): TokenEndpoints => ({
    ...readyEndpoints(post),
    find,
  });
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const orchestrator = await runSecured({ tokenEndpoints, logger });
  const { credentials } = await orchestrator.enrol('agent', 'alpha');
  await ScriptedAgent.join(orchestrator.address, 'alpha', { instanceId: 'alpha' }, credentialsOf(credentials));
  const launcher = (await orchestrator.enrol('launcher', 'laptop')).credentials;
  const client = orchestrator.call(OrchestratorServiceClient, launcher);
  const { outcome } = await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n], 'Say it') });
  if (outcome?.$case !== 'run') throw new Error('no run was created');
  isBroken = true;
  return { client, log, runId: outcome.value.runId };
}

test.each([
  ['a unary call', (client: OrchestratorServiceClient, runId: bigint) => unaryCall(client, Service.getRun, { runId })],
  [
    'a stream',
    async (client: OrchestratorServiceClient, runId: bigint) => {
      const request = GenerateRequest.fromPartial({ runId, attach: true });
      for await (const _ of streamCall(client, Service.generate, request));
    },
  ],
] as const)('%s that meets a defect tells an incident, and the log alone tells what it was', async (_kind, call) => {
  const { client, log, runId } = await broken();
  const error: RpcError = await call(client, runId).then(
    () => Promise.reject(new Error('it was answered')),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ codeName: 'INTERNAL', reason: 'INTERNAL' });
  const { incident } = error.metadata;
  expect(incident).toMatch(/^[0-9a-f]{8}$/);
  expect(error.message).toBe(`internal error, incident ${incident}: look for this id in the orchestrator's log`);
  // Nor is it in what else there came: the details and the metadata of the call.
  const { details, metadata } = error.cause as { details: string; metadata: { toJSON(): object } };
  const values = Object.values(metadata.toJSON()).flat().map(String);
  expect([details, ...values].join('\n')).not.toMatch(/ENOENT|\/srv|internal:7071|TypeError|\.ts|\.js/);

  const entries = log.filter((record) => record.incident === incident);
  expect(entries).toMatchObject([{ level: 50, err: { type: 'TypeError', message: defect } }]);
  expect((entries[0]!.err as { stack: string }).stack).toContain('incidents.test.ts');
});
