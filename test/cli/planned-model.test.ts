import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readModel } from '../../src/cli/planned-model.js';
import { layouts } from '../../src/core/catalogue/layouts.js';
import { knownModel } from '../../src/orchestrator/known-model.js';
import { writeRealModel } from '../gguf/real-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);

function cutsOf(reference: string) {
  const found = knownModel(reference);
  if (found.kind === 'refused') throw new Error(found.message);
  const { llama } = found.model;
  if (llama.kind === 'obstacle') throw new Error(llama.message);
  return llama.cuts;
}

describe('a model to plan', () => {
  it.each(layouts)('of the catalogue runs in stages, or says why not: $name:$size', ({ name, size }) => {
    const cuts = cutsOf(`${name}:${size}`);
    if (`${name}:${size}` === 'gemma3:27b') expect(cuts).toMatchObject({ kind: 'uncut' });
    else expect(cuts).toMatchObject({ kind: 'cuttable', engine: 'llama.cpp' });
  });

  it('is cut where its layers repeat', () => {
    expect(cutsOf('gpt-oss:20b')).toMatchObject({ starts: [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22] });
    expect(cutsOf('gemma3:12b')).toMatchObject({ starts: [6, 12, 18, 24, 30, 36, 42] });
    expect(cutsOf('llama3.2:1b')).toMatchObject({ starts: Array.from({ length: 15 }, (_, index) => index + 1) });
    expect(cutsOf('deepseek-v3:671b')).toMatchObject({ refusedLengths: [{ layers: 26 }, { layers: 27 }] });
  });

  it('may be a file, judged as the orchestrator would', async () => {
    const found = await readModel(writeRealModel('llama8b', folder)[0]!);
    expect(found).toMatchObject({ kind: 'found', model: { obstacle: undefined } });
    const known = cutsOf('llama3.1:8b');
    expect(found.kind === 'found' && found.model.llama).toEqual({ kind: 'cuts', cuts: known });
  });

  it('is refused in a sentence when there is none', async () => {
    expect(await readModel(join(folder, 'missing.gguf'))).toMatchObject({
      kind: 'refused',
      message: expect.any(String),
    });
    expect(knownModel('nobody:1b')).toMatchObject({ kind: 'refused' });
  });
});
