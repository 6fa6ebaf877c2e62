import { limits } from '../core/limits.js';
import { outputOf } from './output-of.js';
import type { WorkerProgram } from './worker-program.js';

/**
 * What a worker program says of its engines' builds, by name; without those that it cannot tell, and empty when it says
 * nothing. In a process of its own: native code that does not suit this machine ends the process that loads it.
 */
export async function toldBuilds({ tellBuilds }: WorkerProgram): Promise<Readonly<Record<string, string>>> {
  const [command = '', ...words] = tellBuilds ?? [];
  const output = await outputOf(command, words, limits.engineBuildsMillis);
  try {
    return JSON.parse(output ?? '{}');
  } catch {
    return {};
  }
}
