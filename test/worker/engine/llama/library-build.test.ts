import { describe, expect, test } from 'vitest';
import { libraryBuild, loadedKernels } from '../../../../src/worker/engine/llama/library-build.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { testLibrary } from './cut-model.js';

const line = (name: string) => `7f00-7f10 r-xp 00000000 08:01 42    /n/bins/linux-x64/${name}\n`;

describe('the kernels in use', () => {
  test('are those whose file is still open', () => {
    const maps = line('libggml-base.so') + line('libggml-cpu-zen4.so') + line('libggml-cpu-zen4.so');
    expect(loadedKernels(maps)).toBe('zen4');
  });

  test('are unknown without any, and with two', () => {
    expect(loadedKernels(line('libggml-base.so'))).toBeUndefined();
    expect(loadedKernels(line('libggml-cpu-zen4.so') + line('libggml-cpu-haswell.so'))).toBeUndefined();
  });

  test.skipIf(findLlamaPackage().kind === 'refused')('are part of the build of the loaded library', async () => {
    await testLibrary();
    expect(libraryBuild()).toMatch(/^llama\.cpp v0\.4\.0 linux-x64 [a-z0-9]+, glibc 2\.\d+$/);
  });
});
