import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

const models = join(packageRoot(), '.cache', 'models');

/** SmolLM2, where `.ci/fetch-model` puts it. Throws when it is not there. */
export function findModel(): string {
  const name = readdirSync(models).find((file) => /smollm2.*\.gguf$/i.test(file));
  if (name === undefined) throw new Error(`no SmolLM2 in ${models}: run .ci/fetch-model`);
  return join(models, name);
}
