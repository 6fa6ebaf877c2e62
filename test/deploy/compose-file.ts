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
  readonly healthcheck?: HealthCheck;
  readonly init?: boolean;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly ports?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
}

/** Times as Docker reads them, such as `5s`. */
export interface HealthCheck {
  readonly test?: readonly string[];
  readonly disable?: boolean;
  readonly interval?: string;
  readonly timeout?: string;
  readonly start_period?: string;
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
