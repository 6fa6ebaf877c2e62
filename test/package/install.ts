import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import type { Packed } from './pack.js';

/** A machine that has Node.js, npm's cache and nothing else. */
export interface BareMachine {
  /** Where `npm install -g` puts things. */
  readonly prefix: string;
  readonly environment: Readonly<Record<string, string>>;
}

export function bareMachine(folder: string): BareMachine {
  const place = (name: string) => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: place('home'),
    TMPDIR: place('tmp'),
    NO_COLOR: '1',
  };
  return { prefix: place('prefix'), environment };
}

/** Installs the package as a user does. Its scripts run; the SQLite binding is found made, as `npm ci` has made it. */
export function installGlobally({ prefix, environment }: BareMachine, { path }: Packed): string {
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  return execFileSync('npm', ['install', '--global', '--prefer-offline', '--prefix', prefix, path], {
    cwd: environment.HOME,
    env: { ...process.env, ...environment, npm_config_cache: cache, ...madeBinding(join(prefix, '..')) },
    encoding: 'utf8',
  });
}

/** Compiling it takes minutes and was done once: its own installer takes a file of this name in place of a download. */
function madeBinding(folder: string): Readonly<Record<string, string>> {
  const made = join(packageRoot(), 'node_modules', 'better-sqlite3');
  const { version } = JSON.parse(readFileSync(join(made, 'package.json'), 'utf8'));
  const { platform, arch, versions } = process;
  const name = `better-sqlite3-v${version}-node-v${versions.modules}-${platform}-${arch}.tar.gz`;
  execFileSync('tar', ['-czf', join(folder, name), '-C', made, 'build/Release/better_sqlite3.node']);
  return { npm_config_better_sqlite3_local_prebuilds: folder };
}
