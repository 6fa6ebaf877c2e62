import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { limits } from '../../../../src/core/limits.js';
import { SLICE_BYTES, SLICE_FOLDER, sliceSettings } from '../../../../src/worker/engine/llama/slice-settings.js';

test('slices are kept where the agent says', () => {
  const settings = sliceSettings({ [SLICE_FOLDER]: '/data/slices', [SLICE_BYTES]: '1000' });
  expect(settings).toEqual({ folder: '/data/slices', maxBytes: 1000 });
});

test('a worker that was started by hand keeps them in the home folder, which is its own', () => {
  const { folder, maxBytes } = sliceSettings({ [SLICE_BYTES]: 'much' });
  expect(folder.startsWith(homedir())).toBe(true);
  expect(maxBytes).toBe(limits.sliceCacheBytes);
});
