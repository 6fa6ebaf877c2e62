import { hostname } from 'node:os';
import { limits } from '../core/limits.js';
import { outputOf } from './output-of.js';
import type { WorkerProgram } from './worker-program.js';

/**
 * The build of each engine of a program, by its name: what decides its arithmetic on this machine. One that could not be
 * told bears this machine's name, so that no exact run takes it for another node's.
 */
export async function engineBuilds(
  { build, tellBuilds }: WorkerProgram,
  engines: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (tellBuilds === undefined) return new Map(engines.map((name) => [name, build]));
  const [command = '', ...words] = tellBuilds;
  const told = parseBuilds(await outputOf(command, words, limits.engineBuildsMillis));
  return new Map(engines.map((name) => [name, `${build}, ${told[name] ?? `unknown kernels of ${hostname()}`}`]));
}

function parseBuilds(output: string | undefined): Readonly<Record<string, string>> {
  if (output === undefined) return {};
  try {
    return JSON.parse(output);
  } catch {
    return {};
  }
}
