import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packageRoot } from '../../src/package-root.js';
import { Child } from '../cli/child.js';

const { scripts } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));

/** Every `npm run bench:...`, by what follows the colon. */
export const benchmarks: readonly string[] = Object.keys(scripts).flatMap(
  (name) => name.match(/^bench:(.*)/)?.[1] ?? [],
);

/** Runs a benchmark to its end, and looks for its figures in what it printed. What they are is nobody's affair here. */
export async function expectFigures(name: string, words: readonly string[], figures: readonly RegExp[]): Promise<void> {
  const [, program] = scripts[`bench:${name}`].match(/node (bench\/\S+)/);
  const { code, stdout, stderr } = await new Child(words, {}, join(packageRoot(), program)).end();
  expect(stderr).toBe('');
  for (const figure of figures) expect(stdout).toMatch(figure);
  expect(stdout).not.toContain('NaN');
  expect(code).toBe(0);
}
