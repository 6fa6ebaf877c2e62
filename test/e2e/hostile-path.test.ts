import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import {
  GenerateRequest,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { streamCall } from '../../src/grpc/client.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Cluster } from './cluster.js';

it('A path full of what a shell would act on is a path and nothing else', async () => {
  const folder = join(temporaryFolder(afterAll), 'a b; touch pwned $(touch pwned) `touch pwned` && \'q\' "d" \n | x');
  mkdirSync(folder);
  const [model] = await writeTinyModel(join(folder, '--version; touch pwned $(touch pwned) \'"\n.gguf'));
  const cluster = await Cluster.start(['alpha', 'beta'], { model, ownWorkers: true });
  const runId = await cluster.create('r', 2, {}, { runtime: RuntimeConfig.create({ maxTokens: 5 }) });
  await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
  const prompt = { source: { $case: 'inline', value: '$(touch pwned)' } } as const;
  let text = '';
  const request = GenerateRequest.fromPartial({ runId, runtime: { prompt } } as object);
  for await (const response of streamCall(cluster.client, Service.generate, request)) text += response.text;
  expect(text).not.toBe('');
  expect(await cluster.end()).toEqual([]);
  for (const place of [process.cwd(), folder, cluster.folder])
    expect([place, existsSync(join(place, 'pwned'))]).toEqual([place, false]);
  expect(
    readdirSync(cluster.folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('pwned')),
  ).toEqual([]);
});
