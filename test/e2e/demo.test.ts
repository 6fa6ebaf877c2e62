import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { descendantsOf, isAlive } from '../../src/process/descendants.js';
import { Child, stageplane } from '../cli/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';

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
