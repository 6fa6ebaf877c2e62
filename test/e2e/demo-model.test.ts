import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inspectModel } from '../../src/gguf/inspect-model.js';
import { stageplane } from '../cli/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('demo --write-model writes a model that can be planned, and none over a file that is there', async () => {
  const path = join(temporaryFolder(), 'tiny.gguf');
  expect(await stageplane(['demo', '--write-model', path])).toMatchObject({ code: 0, stderr: '' });
  expect(await inspectModel(path)).toMatchObject({ kind: 'inspected' });
  const again = await stageplane(['demo', '--write-model', path]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is there already: name another file') });
});
