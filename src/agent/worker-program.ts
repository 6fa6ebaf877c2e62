import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../core/limits.js';
import { packageRoot } from '../package-root.js';
import { version } from '../version.js';

/** The program that an agent runs for each stage. */
export interface WorkerProgram {
  readonly command: readonly string[];
  /** Names its build; `engine-builds.ts` adds what each of its engines has beside it. */
  readonly build: string;
  /** Says which build each engine is on this machine, as a JSON object; absent when `build` is all there is to say. */
  readonly tellBuilds?: readonly string[];
  /** Only our own worker is known to wait idle at no cost. */
  readonly isOwn: boolean;
}

export function ownWorker(): WorkerProgram {
  const program = (name: string) => [process.execPath, join(packageRoot(), 'dist', 'src', 'worker', name)];
  return {
    command: program('main.js'),
    build: `stageplane ${version}`,
    tellBuilds: program('tell-builds.js'),
    isOwn: true,
  };
}

/** Someone's own worker: its build is the content of the files that its command names. */
export function foreignWorker(command: readonly string[]): WorkerProgram {
  const hash = createHash('sha256');
  for (const part of command) {
    hash.update(`${Buffer.byteLength(part)} `);
    // A script is an argument of its interpreter, so every part that is a file counts, but for the interpreter's size.
    hash.update(isSmallFile(part) ? readFileSync(part) : part);
  }
  return { command, build: `own ${hash.digest('hex').slice(0, 16)}`, isOwn: false };
}

function isSmallFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile() && statSync(path).size <= limits.workerFileBytes;
}
