import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { descendantsOf, isAlive } from '../../src/process/descendants.js';
import { Child, stageplane } from '../cli/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('a secure demo ends as well as any other', async () => {
  const folder = temporaryFolder();
  const { code, stdout, stderr } = await stageplane(['demo', '--secure'], { TMPDIR: folder });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^2\. Started an orchestrator on .*, with a CA of its own: everyone shows a certificate$/m);
  expect(stdout).toMatch(/^3\. Started 3 agents, .*, each with a token of its own; edges .* go over mutual TLS$/m);
  expect(stdout).toMatch(/the whole model said the same, token by token/);
  expect(stdout).toMatch(/no process and no socket is left\n$/);
  expect(readdirSync(folder)).toEqual([]);
});

describe('a demo that is cut short', () => {
  it.each(['2. Started an orchestrator', '5. Run 1 is RUNNING'])(
    'by Ctrl-C after "%s" leaves no process and no folder (I18)',
    async (step) => {
      const folder = temporaryFolder();
      const demo = new Child(['demo'], { TMPDIR: folder });
      await demo.shown('stdout', step);
      const started = descendantsOf(demo.process.pid!);
      demo.interrupt();
      expect(await demo.end()).toMatchObject({ code: 130, stderr: '' });
      expect(started.filter(isAlive)).toEqual([]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('by a model that is not there leaves no folder either', async () => {
    const folder = temporaryFolder();
    expect(await stageplane(['demo', '--model', '/nowhere.gguf'], { TMPDIR: folder })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'stageplane: there is no file /nowhere.gguf: check the path\n',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
