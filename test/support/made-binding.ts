import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

/**
 * Packs the SQLite binding that `npm ci` has made here into a folder, under the name by which its installer takes a file in place of
 * a download. Compiling it anew takes minutes.
 */
export function madeBinding(folder: string): void {
  const made = join(packageRoot(), 'node_modules', 'better-sqlite3');
  const { version } = JSON.parse(readFileSync(join(made, 'package.json'), 'utf8'));
  const { platform, arch, versions } = process;
  const name = `better-sqlite3-v${version}-node-v${versions.modules}-${platform}-${arch}.tar.gz`;
  execFileSync('tar', ['-czf', join(folder, name), '-C', made, 'build/Release/better_sqlite3.node']);
}
