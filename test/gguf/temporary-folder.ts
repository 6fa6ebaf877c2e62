import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder of its own for one test file, removed when its tests are done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stageplane-gguf-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
