import { hostname } from 'node:os';
import { toldBuilds } from './told-builds.js';
import type { WorkerProgram } from './worker-program.js';

/**
 * The build of each engine of a program, by its name: what decides its arithmetic on this machine. One that could not be
 * told bears this machine's name, so that no exact run takes it for another node's.
 */
export async function engineBuilds(
  program: WorkerProgram,
  engines: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { build, tellBuilds } = program;
  if (tellBuilds === undefined) return new Map(engines.map((name) => [name, build]));
  const told = await toldBuilds(program);
  return new Map(engines.map((name) => [name, `${build}, ${told[name] ?? `unknown kernels of ${hostname()}`}`]));
}
