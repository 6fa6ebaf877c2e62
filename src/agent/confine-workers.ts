import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { limits } from '../core/limits.js';

/** What the system shall hold a worker to. */
export interface WorkerLimits {
  /** Bytes of memory that it may have for itself: RLIMIT_DATA. A mapped model file does not count, it is the system's. */
  readonly memory?: bigint | undefined;
  /** Files and connections that it may have open at once: RLIMIT_NOFILE. */
  readonly openFiles?: number | undefined;
}

export type Confinement =
  /** Words that come before a worker's command; each program among them becomes the next, so the process id stays. */
  | { readonly kind: 'ready'; readonly words: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * The kernel ends the worker with its parent, however that ends (I18): PR_SET_PDEATHSIG, which Node cannot ask for and setpriv
 * can. What the worker starts does not inherit it.
 */
const END_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL', '--'];
/** A worker's memory holds prompts, which must not get into a file. */
const NO_CORE = '--core=0:0';

/**
 * How workers are held to their limits on this machine, by the programs of util-linux. What was asked for and cannot be had
 * is refused; what nobody asked for is left out where the system does not offer it.
 */
export async function confineWorkers(asked: WorkerLimits): Promise<Confinement> {
  const { memory, openFiles } = asked;
  const flags = [
    ...(memory === undefined ? [] : [`--data=${memory}:${memory}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${openFiles}:${openFiles}`]),
  ];
  const [endWithParent, limit] = await Promise.all([
    usable(END_WITH_PARENT),
    usable(['prlimit', NO_CORE, ...flags, '--']),
  ]);
  if (limit.problem !== undefined && flags.length > 0) return refusal(limitFlags(asked), limit.problem);
  return { kind: 'ready', words: [...endWithParent.words, ...limit.words] };
}

/** The flags by which an operator has asked for limits. */
export function limitFlags({ memory, openFiles }: WorkerLimits): string[] {
  return [
    ...(memory === undefined ? [] : ['--worker-memory-limit']),
    ...(openFiles === undefined ? [] : ['--worker-open-files']),
  ];
}

/** The words, or none of them when the program that they begin with is missing or refuses the others. */
async function usable(words: readonly string[]): Promise<{ words: readonly string[]; problem?: string }> {
  const [program = '', ...args] = words;
  try {
    await promisify(execFile)(program, [...args, program, '--version'], { timeout: limits.processorQueryMillis });
    return { words };
  } catch (error) {
    const { stderr, code, message } = error as Error & { stderr?: string; code?: unknown };
    const problem = code === 'ENOENT' ? `${program} of util-linux is not installed` : stderr?.trim() || message;
    return { words: [], problem };
  }
}

function refusal(flags: readonly string[], problem: string): Confinement {
  const message = `this system cannot hold workers to ${flags.join(' and ')} (${problem}): leave the flag out, or choose a value that it allows`;
  return { kind: 'refused', message };
}
