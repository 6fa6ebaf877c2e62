import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/package-root.js';

export interface Service {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly init?: boolean;
  readonly read_only?: boolean;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function readComposeFile(): ComposeFile {
  return parse(deployed('container/compose.yaml'), { merge: true });
}

/** Text of a file in `deploy`. */
export function deployed(name: string): string {
  return readFileSync(join(packageRoot(), 'deploy', name), 'utf8');
}

/** What an image says, by instruction: the last one wins, as when it is built. */
export function imageSays(instruction: string): string {
  const lines = deployed('container/Dockerfile').replaceAll('\\\n', ' ').split('\n');
  return (
    lines
      .findLast((line) => line.startsWith(`${instruction} `))
      ?.slice(instruction.length + 1)
      .trim() ?? ''
  );
}
