import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { imageSays, readComposeFile } from './compose-file.js';
import { Host } from './host.js';

const compose = readComposeFile();
const agents = Object.keys(compose.services).filter((name) => name.startsWith('agent-'));

describe('the compose file', () => {
  it('runs every service with a process that reaps, on a root that cannot be written', () => {
    expect(agents).toHaveLength(3);
    for (const service of Object.values(compose.services))
      expect(service).toMatchObject({ init: true, read_only: true });
  });

  it('mounts only volumes that it declares, and the models read-only', () => {
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes);
    const [models, own] = [
      mounted.filter((mount) => mount.startsWith('${')),
      mounted.filter((mount) => !mount.startsWith('${')),
    ];
    expect(new Set(own.map((mount) => mount.split(':')[0]))).toEqual(new Set(Object.keys(compose.volumes)));
    expect(models.every((mount) => mount.endsWith(':/models:ro'))).toBe(true);
  });
});

it('the image ends as it is asked to, is nobody, and brings no secret', () => {
  expect(imageSays('USER')).toBe('10001:10001');
  expect(imageSays('STOPSIGNAL')).toBe('SIGTERM');
  expect(imageSays('COPY')).toBe('--from=build /opt/stageplane /opt/stageplane');
});

// Every address of 127.0.0.0/8 is this machine on Linux alone.
it.runIf(process.platform === 'linux')(
  'its services come up, over mutual TLS, and answer a prompt',
  async () => {
    const host = new Host(compose, temporaryFolder());
    onTestFinished(async () => void (await host.stop()));
    const [model] = await writeTinyModel(join(host.folder, 'models', 'tiny.gguf'));
    expect(await host.health('orchestrator')).not.toBe(0);
    expect(await host.health(agents[0]!)).not.toBe(0);
    await host.up();
    for (const name of agents) await host.healthy(name);

    const ask = (...words: string[]) =>
      host.exec('orchestrator', ['stageplane', ...words, '--orchestrator', host.orchestrator]);
    const nodes = async () => JSON.parse((await ask('nodes', 'list', '--json')).stdout).nodes ?? [];
    const isReady = ({ conditions = [] }: { conditions?: { type: string }[] }) =>
      conditions.some(({ type }) => type === 'NODE_CONDITION_TYPE_SCHEDULABLE');
    while ((await nodes()).filter(isReady).length < agents.length);
    const run = await ask(
      'run',
      model,
      '--engine',
      'fixture',
      '--stages',
      '3',
      '--prompt',
      'once',
      '--max-tokens',
      '4',
    );
    expect(run).toEqual({ code: 0, stdout: expect.stringMatching(/./) });

    const codes = await host.stop();
    expect(codes).toEqual(Object.fromEntries(Object.keys(codes).map((name) => [name, 0])));
    expect(Object.keys(codes)).toHaveLength(Object.keys(compose.services).length);
  },
  180_000,
);
