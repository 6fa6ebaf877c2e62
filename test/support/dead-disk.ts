import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import { temporaryFolder } from './temporary-folder.js';

const preload = fileURLToPath(new URL('./dead-disk.cjs', import.meta.url));

/**
 * Processes that are started from now on read something that never comes: in the engine's thread, or in the pool of threads
 * that serves the main one. Call the result after the start; it resolves when the read has begun.
 */
export function deadDisk(where: 'engine' | 'pool'): () => Promise<void> {
  const path = join(temporaryFolder(), 'disk');
  execFileSync('mkfifo', [path]);
  vi.stubEnv('NODE_OPTIONS', `--require=${preload}`);
  vi.stubEnv('DEAD_DISK', path);
  vi.stubEnv('DEAD_DISK_IN', where);
  onTestFinished(() => void vi.unstubAllEnvs());
  return async () => {
    // Resolves when somebody reads, who then never gets a byte.
    const writer = await open(path, 'w');
    onTestFinished(() => writer.close());
  };
}
