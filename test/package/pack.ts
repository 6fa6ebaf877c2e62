import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

export interface Packed {
  /** The tarball. */
  readonly path: string;
  /** Bytes of the tarball, and of what is in it. */
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** What `npm pack` makes of this tree, in a folder; it builds `dist` anew for that. */
export function pack(folder: string): Packed {
  const said = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: packageRoot(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
  const [packed] = JSON.parse(said) as [Packed & { readonly filename: string }];
  return { ...packed, path: join(folder, packed.filename) };
}
