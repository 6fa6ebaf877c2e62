import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { unaryCall } from '../../src/grpc/client.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import { samplePlan } from '../core/machine/samples.js';
import { runSecured } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** `models` with files and links, `out` beside it, and what a launcher is told of a path. */
async function askAsLauncher() {
  const root = temporaryFolder();
  const models = join(root, 'models');
  for (const folder of [models, join(root, 'out')]) mkdirSync(folder);
  await writeTinyModel(join(models, 'tiny.gguf'));
  copyFileSync(join(models, 'tiny.gguf'), join(root, 'out', 'secret.gguf'));
  symlinkSync(join(root, 'out', 'secret.gguf'), join(models, 'link.gguf'));
  symlinkSync(join(root, 'out', 'nothing.gguf'), join(models, 'broken.gguf'));
  symlinkSync(join(root, 'out'), join(models, 'way'));
  symlinkSync('/', join(models, 'top'));
  symlinkSync('tiny.gguf', join(models, 'alias.gguf'));
  execFileSync('mkfifo', [join(models, 'pipe.gguf')]);
  const orchestrator = await runSecured({ models: [models] });
  const client = (credentials = orchestrator.operator.credentials) =>
    orchestrator.call(OrchestratorServiceClient, credentials);
  const launcher = client((await orchestrator.enrol('launcher', 'laptop')).credentials);
  const ask = (path: string, caller = launcher) => outcome(unaryCall(caller, Service.inspectModel, inspect(path)));
  return { root, models, orchestrator, launcher, operator: client(), ask };
}

const local = (value: string) => ({ source: { $case: 'localPath' as const, value } });
const inspect = (path: string) => ({ source: local(path), includeTensors: false });

function outcome(call: Promise<unknown>) {
  return call.then(
    () => 'read',
    (error: RpcError) => error,
  );
}

describe('a launcher', () => {
  it('names models in the models folders, by a relative or absolute path or a link that stays inside', async () => {
    const { ask, models } = await askAsLauncher();
    for (const path of ['tiny.gguf', 'alias.gguf', './way/../tiny.gguf', join(models, 'tiny.gguf')])
      expect([path, await ask(path)]).toEqual([path, 'read']);
    expect(await ask('nothing.gguf')).toMatchObject({ code: status.NOT_FOUND, reason: 'MODEL_NOT_FOUND' });
  });

  it('is told the same of everything else, whether it is there or not', async () => {
    const { ask, root } = await askAsLauncher();
    const paths = [
      ['../out/secret.gguf', '../out/nothing.gguf'],
      ['../../../../../../../../etc/passwd', '../../../../../../../../etc/nothing'],
      [join(root, 'out', 'secret.gguf'), join(root, 'out', 'nothing.gguf')],
      ['link.gguf', 'broken.gguf'],
      ['way/secret.gguf', 'way/nothing.gguf', 'way/nothing/below'],
      ['top/etc/passwd', 'top/etc/nothing', 'top/root/.ssh/id_rsa'],
      ['/proc/self/environ', '/proc/self/nothing', '/dev/zero', '/dev/nothing'],
      ['tiny.gguf\0.txt', '\0', '/etc/passwd\0.gguf'],
    ].flat();
    const answers = new Set<string>();
    for (const path of paths) {
      const refused = await ask(path);
      expect([path, refused]).toMatchObject([
        path,
        {
          code: status.PERMISSION_DENIED,
          reason: 'MODEL_OUTSIDE',
          fieldViolations: [{ field: 'source.local_path' }],
          message: expect.stringContaining('--models'),
        },
      ]);
      answers.add(String((refused as RpcError).message));
    }
    expect(answers.size).toBe(1);
  });

  it('waits for no FIFO, and hears what a folder is', async () => {
    const { ask } = await askAsLauncher();
    expect(await ask('pipe.gguf')).toMatchObject({
      reason: 'MODEL_UNREADABLE',
      message: expect.stringContaining('FIFO'),
    });
    expect(await ask('.')).toMatchObject({ reason: 'MODEL_UNREADABLE', message: expect.stringContaining('directory') });
  });

  it('reads no shard that leads out', async () => {
    const { ask, models, root, operator } = await askAsLauncher();
    await writeTinyModel(join(models, 'cut.gguf'), { shards: 2 });
    const [, second = ''] = readdirSync(models).filter((name) => name.startsWith('cut-'));
    expect(await ask('cut-00001-of-00002.gguf')).toBe('read');
    copyFileSync(join(models, second), join(root, 'out', second));
    rmSync(join(models, second));
    symlinkSync(join(root, 'out', second), join(models, second));
    expect(await ask('cut-00001-of-00002.gguf', operator)).toBe('read');
    // What is remembered belongs to the first file as it was.
    copyFileSync(join(models, 'cut-00001-of-00002.gguf'), join(models, 'copy'));
    renameSync(join(models, 'copy'), join(models, 'cut-00001-of-00002.gguf'));
    expect(await ask('cut-00001-of-00002.gguf')).toMatchObject({
      reason: 'MODEL_UNREADABLE',
      message: expect.stringContaining(second),
    });
  });

  it('plans and creates no run of a file outside, not even with facts of its own', async () => {
    const { launcher, root } = await askAsLauncher();
    const secret = local(join(root, 'out', 'secret.gguf'));
    const sample = samplePlan([2n]);
    const tokenizer = { ...sample.facts!, ggufSource: local('tiny.gguf'), tokenizer: secret };
    const plans = [
      ['plan.model', { ...sample, facts: undefined, model: secret }],
      ['plan.model', { ...sample, model: secret, facts: { ...sample.facts!, ggufSource: secret } }],
      [
        'plan.facts.gguf_source',
        { ...sample, model: local('tiny.gguf'), facts: { ...sample.facts!, ggufSource: secret } },
      ],
      ['plan.facts.tokenizer', { ...sample, model: local('tiny.gguf'), facts: tokenizer }],
    ] as const;
    for (const [field, plan] of plans) {
      const denied = { code: status.PERMISSION_DENIED, fieldViolations: [{ field: `${field}.local_path` }] };
      expect(await outcome(unaryCall(launcher, Service.planRun, { plan }))).toMatchObject(denied);
      const create = { requestId: field, plan };
      expect(await outcome(unaryCall(launcher, Service.createRun, create))).toMatchObject(denied);
    }
  });
});

it('An operator may name any file', async () => {
  const { ask, operator, root } = await askAsLauncher();
  expect(await ask(join(root, 'out', 'secret.gguf'), operator)).toBe('read');
  expect(await ask('../out/secret.gguf', operator)).toBe('read');
});

it('Without a models folder a launcher is told of --models', async () => {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('launcher', 'laptop');
  const client = orchestrator.call(OrchestratorServiceClient, credentials);
  for (const path of ['tiny.gguf', '/etc/passwd']) {
    const refused = await outcome(unaryCall(client, Service.inspectModel, inspect(path)));
    expect(refused).toMatchObject({ reason: 'MODEL_OUTSIDE', message: expect.stringMatching(/has none: .*--models/) });
  }
});
