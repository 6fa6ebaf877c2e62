import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { findLlamaPackage, LLAMA_BUILD } from '../../../../src/worker/engine/llama/llama-package.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);

/** A project whose dependency has the given version, and was built from the given release of llama.cpp. */
function projectWith(version: string, release: string, libraries: readonly string[]): string {
  const project = join(folder, `${version}-${release}-${libraries.length}`);
  const root = join(project, 'node_modules', '@node-llama-cpp', 'linux-x64');
  const bins = join(root, 'bins', 'linux-x64');
  mkdirSync(bins, { recursive: true });
  mkdirSync(join(root, 'dist'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ version, exports: './dist/index.js' }));
  writeFileSync(join(root, 'dist', 'index.js'), '');
  const build = { buildOptions: { llamaCpp: { release } } };
  writeFileSync(join(bins, '_nlcBuildMetadata.json'), JSON.stringify(build));
  for (const library of libraries) writeFileSync(join(bins, library), '');
  return pathToFileURL(join(project, 'index.js')).href;
}

const libraries = ['libllama.v0.4.0.so', 'libggml.v0.4.0.so', 'libggml-base.so', 'libllama-common.so'];
const platform = 'linux-x64';

describe('the library is refused by name', () => {
  test('on a platform that it was not tried on', () => {
    expect(findLlamaPackage({ platform: 'plan9-mips' })).toMatchObject({
      reason: 'platform',
      message: expect.stringContaining('not on plan9-mips'),
    });
  });

  test('when its package is not installed, with the command that installs it', () => {
    const from = pathToFileURL(join(folder, 'nothing-here', 'index.js')).href;
    expect(findLlamaPackage({ platform, from })).toMatchObject({
      reason: 'package-missing',
      message: expect.stringContaining(`npm install @node-llama-cpp/linux-x64@${LLAMA_BUILD.package}`),
    });
  });

  test.each([
    ['another package', '3.22.0', 'v0.4.0'],
    ['another llama.cpp in the same package', '3.21.1', 'v0.5.0'],
  ])('when it is %s: its structs may lie otherwise', (_, version, release) => {
    const from = projectWith(version, release, libraries);
    expect(findLlamaPackage({ platform, from })).toMatchObject({
      reason: 'other-build',
      message: expect.stringContaining(`is ${version} with llama.cpp ${release}`),
    });
  });

  test('when a part of it is gone', () => {
    const from = projectWith('3.21.1', 'v0.4.0', libraries.slice(1));
    expect(findLlamaPackage({ platform, from })).toMatchObject({ reason: 'other-build' });
  });
});

test('the known build is found with its three libraries', () => {
  const found = findLlamaPackage({ platform, from: projectWith('3.21.1', 'v0.4.0', libraries) });
  expect(found).toMatchObject({
    kind: 'found',
    libraries: { llama: expect.stringMatching(/libllama\.v0\.4\.0\.so$/) },
  });
});
