import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is gone after the test; short enough for a Unix socket's path. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
