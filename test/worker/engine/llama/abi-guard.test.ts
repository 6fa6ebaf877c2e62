import { describe, expect, test } from 'vitest';
import { layoutFault } from '../../../../src/worker/engine/llama/abi-guard.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { testLibrary } from './cut-model.js';

describe.skipIf(findLlamaPackage().kind === 'refused')('the layout of the library', () => {
  test('is the one that the structs describe', async () => {
    const { koffi, structs, api } = await testLibrary();
    expect(layoutFault(koffi.sizeof, structs, api)).toBeUndefined();
  });

  test('is refused with the field that has moved', async () => {
    const { koffi, structs, api } = await testLibrary();
    const moved = { ...api, defaultContextParams: () => ({ ...api.defaultContextParams(), type_k: 8 }) };
    expect(layoutFault(koffi.sizeof, structs, moved)).toBe('context default type_k is 8, not 1');
  });

  test('is refused when a struct has grown', async () => {
    const { koffi, structs, api } = await testLibrary();
    expect(layoutFault(() => 81, structs, api)).toBe('modelParams has 81 bytes here, not 80');
    expect(koffi.sizeof(structs.modelParams)).toBe(80);
  });
});
