import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from '../core/machine/agent/state.js';
import { U64_MAX } from '../core/uint.js';
import { writeFileAtomically } from '../process/write-file-atomically.js';

export type IdentityLoaded =
  | { readonly kind: 'loaded'; readonly identity: Identity }
  | { readonly kind: 'refused'; readonly message: string };

const FILE = 'identity.json';

/**
 * Reads who the agent is, or makes a new identity when the folder has none. A file that cannot be read is never
 * replaced: it may be all that keeps an old orchestrator from being obeyed (I5).
 *
 * @param rejoin forget cluster, node id and epoch, so that another orchestrator may take the agent in
 */
export function loadIdentity(folder: string, rejoin: boolean): IdentityLoaded {
  const found = readIdentity(folder);
  if (found.kind === 'refused') return found;
  if (found.kind === 'loaded' && !rejoin) return found;
  const instanceId = found.kind === 'loaded' ? found.identity.instanceId : randomUUID();
  const identity: Identity = { instanceId, clusterId: '', nodeId: 0n, highestEpoch: 0n };
  const written = saveIdentity(folder, identity);
  return written === undefined ? { kind: 'loaded', identity } : { kind: 'refused', message: written };
}

/** Undefined when the identity is on disk; otherwise the sentence that says why it is not. */
export function saveIdentity(folder: string, identity: Identity): string | undefined {
  const { instanceId, clusterId, nodeId, highestEpoch } = identity;
  const json = { instanceId, clusterId, nodeId: String(nodeId), highestEpoch: String(highestEpoch) };
  const written = writeFileAtomically(join(folder, FILE), `${JSON.stringify(json, undefined, 2)}\n`);
  return written.kind === 'written' ? undefined : written.message;
}

/** Who the agent of a folder is. Changes nothing. */
export function readIdentity(folder: string): IdentityLoaded | { readonly kind: 'missing' } {
  const path = join(folder, FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'refused', message: `${path} cannot be read (${(error as Error).message}): check the data folder` };
  }
  const identity = parseIdentity(text);
  if (identity) return { kind: 'loaded', identity };
  const advice = 'restore it from a backup, or remove it to join as a new node';
  return { kind: 'refused', message: `${path} is damaged: ${advice}` };
}

function parseIdentity(text: string): Identity | undefined {
  try {
    const { instanceId, clusterId, nodeId, highestEpoch } = JSON.parse(text) as Record<string, unknown>;
    if (typeof instanceId !== 'string' || instanceId === '' || typeof clusterId !== 'string') return undefined;
    const numbers = [nodeId, highestEpoch].map((value) => (isDigits(value) ? BigInt(value) : undefined));
    const [node, epoch] = numbers;
    if (node === undefined || epoch === undefined || node > U64_MAX || epoch > U64_MAX) return undefined;
    return { instanceId, clusterId, nodeId: node, highestEpoch: epoch };
  } catch {
    return undefined;
  }
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value);
}
