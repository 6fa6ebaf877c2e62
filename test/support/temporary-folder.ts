import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A folder that is gone when the test is. Its path leads through no link and is short enough for a Unix socket.
 *
 * @param finished `afterAll` keeps it for all tests of a file
 */
export function temporaryFolder(finished: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'sp-'));
  finished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
