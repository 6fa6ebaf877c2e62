import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findModel } from '../../src/core/catalogue/find-model.js';
import { inspectModel } from '../../src/gguf/inspect-model.js';
import { packageRoot } from '../../src/package-root.js';

const folder = join(packageRoot(), '.cache', 'models');

it('the catalogue says what the file of SmolLM2 says, to the byte', async () => {
  const name = readdirSync(folder).find((file) => /smollm2.*q4_1\.gguf$/i.test(file));
  if (name === undefined) throw new Error(`no SmolLM2 in Q4_1 in ${folder}: run .ci/fetch-model`);
  const read = await inspectModel(join(folder, name));
  const known = findModel('smollm2:135m@q4_1');
  if (read.kind === 'refused' || known.kind === 'refused') throw new Error(JSON.stringify([read, known]));
  const { layers, attention, vocabularySize, contextLength, feedForwardLengths } = known.model.inspection;
  expect({ layers, attention, vocabularySize, contextLength, feedForwardLengths }).toEqual({
    layers: read.inspection.layers,
    attention: read.inspection.attention,
    vocabularySize: read.inspection.vocabularySize,
    contextLength: read.inspection.contextLength,
    feedForwardLengths: read.inspection.feedForwardLengths,
  });
});
