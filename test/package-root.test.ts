import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { packageRoot } from '../src/package-root.js';
import { temporaryFolder } from './support/temporary-folder.js';

test('the root is the same from src and from the compiled place', () => {
  const root = packageRoot();
  expect(existsSync(join(root, 'gen', 'descriptor.binpb'))).toBe(true);
  const compiled = pathToFileURL(join(root, 'dist', 'src', 'package-root.js')).href;
  expect(packageRoot(compiled)).toBe(root);
});

test('a module outside any package is an error that says so', () => {
  const stray = join(temporaryFolder(), 'stray.js');
  expect(() => packageRoot(pathToFileURL(stray).href)).toThrow(`no package.json above ${stray}`);
});
