import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../process/descendants.js';

/** Processes of the demo that still live and sockets that still lie in its folder. */
export function leftovers(folder: string, pids: readonly number[]): string[] {
  const processes = pids.filter(isAlive).map((pid) => `process ${pid}`);
  const sockets = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isSocket())
    .map((entry) => `socket ${join(entry.parentPath, entry.name)}`);
  return [...processes, ...sockets];
}
