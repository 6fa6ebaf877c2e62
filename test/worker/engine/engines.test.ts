import { expect, test } from 'vitest';
import { listEngines } from '../../../src/worker/engine/engines.js';
import { findLlamaPackage } from '../../../src/worker/engine/llama/llama-package.js';

test('llama.cpp is offered where its library is', () => {
  const libraries = { llama: 'l', ggml: 'g', ggmlBase: 'b' };
  const { offered, absent } = listEngines({ kind: 'found', folder: '/', libraries });
  expect([...offered.keys()]).toEqual(['fixture', 'llama.cpp']);
  expect(absent.size).toBe(0);
});

test('elsewhere only the fixture is, and the reason is kept for whoever asks for it', () => {
  const { offered, absent } = listEngines(findLlamaPackage({ platform: 'plan9-mips' }));
  expect([...offered.keys()]).toEqual(['fixture']);
  expect(absent.get('llama.cpp')).toContain('plan9-mips');
});

test('an engine makes itself only when it is asked to, and holds nothing yet', async () => {
  for (const { make, devices } of listEngines(findLlamaPackage()).offered.values()) {
    expect(devices).toEqual(['cpu']);
    expect((await make()).health().state).toBe('UNLOADED');
  }
});
