import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Child, stageplane } from './child.js';

const folder = temporaryFolder(afterAll);

describe('orchestrator', () => {
  it('says where it listens, answers, and stops in good order when told to', async () => {
    const data = join(folder, 'data');
    const child = new Child(['orchestrator', '--json', '--models', folder], {
      STAGEPLANE_LISTEN: '127.0.0.1:0',
      STAGEPLANE_DATA: data,
    });
    await child.shown('stdout', '\n');
    const { address, adminSocket } = JSON.parse(child.stdout);
    expect(adminSocket).toBe(join(data, 'admin.sock'));
    const [list, info] = await Promise.all([
      stageplane(['runs', 'list', '--json'], { STAGEPLANE_ORCHESTRATOR: address }),
      stageplane(['server', 'info', '--data', data]),
    ]);
    expect(JSON.parse(list.stdout)).toEqual({ runs: [] });
    expect(info.stdout).toContain(`listening on:     ${address}\n`);
    child.process.kill('SIGTERM');
    const { code, stderr } = await child.end();
    expect(code).toBe(0);
    // Logs are JSON lines when nobody looks.
    for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  });

  it('says why it cannot start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const words = [
      'orchestrator',
      '--listen',
      `127.0.0.1:${port}`,
      '--data',
      join(folder, 'taken'),
      '--log-level',
      'fatal',
    ];
    const { code, stdout, stderr } = await stageplane(words);
    taken.close();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(new RegExp(`^stageplane: 127.0.0.1:${port} is in use; .+\\n$`));
  });
});

describe('agent', () => {
  it('logs more after SIGUSR2, and as before after another', async () => {
    const words = ['agent', '--models', folder, '--data', join(folder, 'talkative'), '--orchestrator', '127.0.0.1:1'];
    const child = new Child(words);
    await child.shown('stderr', 'no orchestrator answers');
    child.process.kill('SIGUSR2');
    await child.shown('stderr', '"logLevel":"debug"');
    child.process.kill('SIGUSR2');
    await child.shown('stderr', '"logLevel":"info"');
    child.process.kill('SIGTERM');
    expect((await child.end()).code).toBe(0);
  });

  it('says which of its flags for edges cannot be used', async () => {
    const environment = { STAGEPLANE_EDGE_LISTEN: '0.0.0.0:0', STAGEPLANE_DATA: join(folder, 'agent') };
    const words = ['agent', '--models', folder, '--edge-address', '1=127.0.0.1:7400', '--log-level', 'fatal'];
    const refused = await stageplane(words, environment);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^stageplane: --edge-listen is 0\.0\.0\.0:0, .+ add --insecure-edges/);
    const { stderr } = await stageplane([...words, '--insecure-edges', '--edge-template', 'laptop:7400'], environment);
    expect(stderr).toMatch(/^stageplane: --edge-template laptop:7400 would give all nodes one address/);
  });
});

describe('inspect', () => {
  it('shows layers and groups, and everything as JSON', async () => {
    const [file] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 3 });
    const [text, json] = await Promise.all([
      stageplane(['inspect', file]),
      stageplane(['inspect', file, '--tensors', '--json']),
    ]);
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^layers: +3 of width 64$/m);
    expect(text.stdout).toMatch(/^embedding +128 KiB {2}on the first stage$/m);
    expect(text.stdout).toMatch(/^ +2 {2}\d+ KiB +9 {2}F32$/m);
    const inspection = JSON.parse(json.stdout);
    expect(inspection.facts.hiddenDim).toBe('64');
    expect(inspection.tensors).toHaveLength(3 * 9 + 3);
  });

  it('says why a file cannot be read', async () => {
    const { code, stderr } = await stageplane(['inspect', join(folder, 'missing.gguf'), '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'MISSING_FILE' });
  });
});
