import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { Child } from '../cli/child.js';

/** One of the programs that users copy. */
export function examplePath(name: string): string {
  return join(packageRoot(), 'examples', `${name}.mjs`);
}

/** Starts one. */
export function startExample(name: string, ...words: readonly string[]): Child {
  return new Child(words, {}, examplePath(name));
}

/** Lines that are neither blank nor comments. */
export function linesOfCode(name: string): number {
  const lines = readFileSync(examplePath(name), 'utf8').split('\n');
  return lines.filter((line) => !/^\s*(\/\/.*|\/\*\*.*\*\/)?$/.test(line)).length;
}
