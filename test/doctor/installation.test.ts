import { expect, it } from 'vitest';
import { installationView } from '../../src/cli/format/installation-view.js';
import { enginesHere, installation } from '../../src/doctor/installation.js';
import { listEngines } from '../../src/worker/engine/engines.js';
import type { LlamaPackage } from '../../src/worker/engine/llama/llama-package.js';

const message = 'engine llama.cpp needs the optional package: install it';
const without = listEngines({ kind: 'refused', reason: 'package-missing', message });
const found: LlamaPackage = { kind: 'found', folder: '', libraries: { llama: '', ggml: '', ggmlBase: '' } };

it('asks no other process where no engine needs native code, and says why one is missing', async () => {
  const tell = () => Promise.reject(new Error('asked'));
  expect(await enginesHere(without, tell)).toEqual([
    { name: 'fixture', offered: true, build: 'fixture 1' },
    { name: 'llama.cpp', offered: false, reason: message },
  ]);
});

it('outlives a native library that ends the process that loads it', async () => {
  const engines = await enginesHere(listEngines(found), async () => ({}));
  expect(engines).toContainEqual({ name: 'llama.cpp', offered: true });
  const view = installationView({ ...(await installation()), engines });
  expect(view).toMatch(/^engine llama\.cpp: +offered, but does not load here; see stageplane doctor --role agent$/m);
});

it('names the build that exact runs compare', async () => {
  const engines = await enginesHere(listEngines(found), async () => ({ 'llama.cpp': 'llama.cpp v0.4.0 haswell' }));
  expect(engines).toContainEqual({ name: 'llama.cpp', offered: true, build: 'llama.cpp v0.4.0 haswell' });
});
