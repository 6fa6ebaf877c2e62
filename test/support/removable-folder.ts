import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh folder. The caller removes it. */
export function removableFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'stageplane-store-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
