import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { madeBinding } from '../support/made-binding.js';
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
  const prebuilds = join(prefix, '..');
  madeBinding(prebuilds);
  return execFileSync('npm', ['install', '--global', '--prefer-offline', '--prefix', prefix, path], {
    cwd: environment.HOME,
    env: {
      ...process.env,
      ...environment,
      npm_config_cache: cache,
      npm_config_better_sqlite3_local_prebuilds: prebuilds,
    },
    encoding: 'utf8',
  });
}
