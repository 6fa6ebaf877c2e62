import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../src/package-root.js';

interface Locked {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

const text = (name: string) => readFileSync(join(packageRoot(), name), 'utf8');
const manifest = JSON.parse(text('package.json'));
const { '': root, ...locked }: Record<string, Locked> = JSON.parse(text('package-lock.json')).packages;

/** Packages that run something while they are installed, and what. */
const runsAtInstall: Readonly<Record<string, string>> = {
  'better-sqlite3': 'fetches its SQLite binding, or compiles it',
  koffi: 'takes the FFI binding for this machine, or compiles it',
  protobufjs: 'looks whether the version that asked for it is pinned, and may warn',
  '@bufbuild/buf': 'puts the binary for this machine in place; only for development',
};

test('nothing runs at install but the packages that are named here with a reason', () => {
  const found = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = found.map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(names.sort()).toEqual(Object.keys(runsAtInstall).sort());
});

test('every direct dependency is pinned to one version, which the lock has', () => {
  for (const group of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
    expect((root as never)[group]).toEqual(manifest[group]);
    for (const [name, version] of Object.entries<string>(manifest[group])) {
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
      expect([name, locked[`node_modules/${name}`]?.version]).toEqual([name, version]);
    }
  }
});

test('every package is held to a hash, wherever it is fetched from, and nothing says from where', () => {
  for (const [path, { integrity, resolved }] of Object.entries(locked)) {
    expect([path, integrity, resolved]).toEqual([
      path,
      expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/),
      undefined,
    ]);
  }
  expect(text('.npmrc')).toMatch(/^omit-lockfile-registry-resolved=true$/m);
  expect(text('.npmrc')).not.toMatch(/^(@[^:]+:)?registry *=/m);
});
