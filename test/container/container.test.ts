import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/package-root.js';
import { readComposeFile } from '../deploy/compose-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { standInForNode } from './base-images.js';
import { findEngine } from './find-engine.js';
import { buildImage } from './image.js';
import { Project } from './project.js';

const cache = join(packageRoot(), '.cache', 'container');
const found = await findEngine(join(cache, 'docker'));
if (found.kind === 'none') console.log(`containers are not tried: ${found.why}`);

describe.runIf(found.kind === 'found')('the image, and what compose.yaml makes of it', () => {
  const { engine, release } = found as Extract<typeof found, { kind: 'found' }>;
  const folder = temporaryFolder(afterAll);
  const project = `sp-${process.pid}`;
  const image = `stageplane-test:${project}`;
  const models = join(folder, 'models');
  const compose = readComposeFile();
  const services = new Project(engine, compose, { project, image, models });
  const agents = Object.keys(compose.services).filter((name) => name.startsWith('agent-'));

  beforeAll(async () => {
    for (const name of ['models', 'node', 'checkout']) mkdirSync(join(folder, name));
    // Whoever runs the image has another id than who runs this.
    chmodSync(models, 0o777);
    const nodeImage = process.env.NODE_IMAGE ?? (await standInForNode(engine, cache, join(folder, 'node')));
    await buildImage(engine, image, nodeImage, join(folder, 'checkout'));
  });
  afterAll(async () => {
    await services.down();
    await engine.attempt('rmi', image);
    await release();
  });

  const once = (...words: string[]) => engine.run('run', '--rm', '--read-only', '--tmpfs', '/tmp', ...words);
  const ask = async (...words: string[]) => {
    const answer = await services.exec('orchestrator', 'stageplane', ...words);
    expect(answer, words.join(' ')).toMatchObject({ code: 0 });
    return answer.stdout;
  };

  it('offers both engines, and has nothing to build with', async () => {
    expect(await once('--network', 'none', image, 'version')).toMatch(/^engine llama\.cpp: llama\.cpp v/m);
    const tools = ['npm', 'cc', 'node_modules/typescript', 'node_modules/better-sqlite3/deps'];
    const look = `cd /opt/stageplane; for name in ${tools.join(' ')}; do command -v $name || test -e $name && echo $name; done; id -u`;
    expect(await once('--entrypoint', 'sh', image, '-c', look)).toBe('10001');
    console.log(
      `image: ${await engine.run('image', 'inspect', '--format', '{{.Size}}', image)} bytes, Node's own image included`,
    );
  });

  it('comes up, healthy', async () => {
    await once('--volume', `${models}:/models`, image, 'demo', '--write-model', '/models/tiny.gguf');
    await services.up();
    for (const name of ['orchestrator', ...agents]) await services.healthy(name);
  });

  it('answers over three agents what the whole model says in one process, and keeps none of its own', async () => {
    const processes = async () => (await Promise.all(agents.map((name) => services.processes(name)))).flat().sort();
    const before = await processes();
    for (const engine of ['llama.cpp', 'fixture']) {
      const words = ['tiny.gguf', '--engine', engine, '--stages', '3', '--prompt', 'once', '--max-tokens', '8'];
      expect(await ask('run', ...words)).toMatch(/./);
    }
    const { runs } = JSON.parse(await ask('runs', 'list', '--json'));
    expect(runs).toHaveLength(2);
    for (const { runId } of runs) await ask('verify', String(runId));
    // Each agent keeps as many workers waiting for a stage as it did before.
    while (String(await processes()) !== String(before));
  });

  it('cannot write where it has no volume', async () => {
    for (const path of ['/opt/stageplane/x', '/models/x']) {
      const { code, stderr } = await services.exec(agents[0]!, 'touch', path);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Read-only file system') });
    }
  });

  it('ends within its grace periods, and is what it was when it is started again', async () => {
    const nodes = async () =>
      JSON.parse(await ask('nodes', 'list', '--json')).nodes.map(({ nodeId, name }: Record<string, unknown>) => [
        nodeId,
        name,
      ]);
    const before = await nodes();
    const codes = await services.stop();
    expect(codes).toEqual(Object.fromEntries(Object.keys(compose.services).map((name) => [name, 0])));

    const daemons = ['orchestrator', ...agents];
    await services.start(...daemons);
    for (const name of daemons) await services.healthy(name);
    expect(await nodes()).toEqual(before);
    expect(JSON.parse(await ask('runs', 'list', '--json')).runs).toHaveLength(2);
    expect(await ask('run', 'tiny.gguf', '--stages', '3', '--prompt', 'once', '--max-tokens', '4')).toMatch(/./);
  });

  it('leaves nothing', async () => {
    await services.stop();
    expect(await services.down()).toEqual([]);
  });
});
