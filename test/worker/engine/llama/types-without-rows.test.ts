import { expect, test } from 'vitest';
import { tensorTypes } from '../../../../src/core/tensors/tensor-type.js';
import { typesWithoutRows } from '../../../../src/gguf/slice/embedding-obstacle.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { testLibrary } from './cut-model.js';

const TO_FLOAT_OFFSET = 40;

test.skipIf(findLlamaPackage().kind === 'refused')(
  'the library converts rows of all types but those listed',
  async () => {
    const { api, koffi } = await testLibrary();
    const convertible = ([, { id }]: [string, { id: number }]) => {
      const traits = api.typeTraits(id);
      return id === tensorTypes.F32.id || (traits !== null && koffi.decode(traits, TO_FLOAT_OFFSET, 'void*') !== null);
    };
    const others = Object.entries(tensorTypes).filter((entry) => !convertible(entry));
    expect(others.map(([name]) => name).sort()).toEqual([...typesWithoutRows].sort());
  },
);
