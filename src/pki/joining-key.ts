import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { RpcError } from '../grpc/rpc-error.js';
import { prepareDataFolder } from '../process/data-folder.js';
import { writeFileAtomically } from '../process/write-file-atomically.js';
import { type JoinToken, secretDigest } from './join-token.js';
import { type KeyPair, makeKeyPair, readKeyPair } from './key-pair.js';
import { readSecretFile } from './secret-file.js';

/**
 * The key for which a token is redeemed, on the disk before anybody is asked: a token admits one key, and answers it again when
 * the first answer, or whoever waited for it, was lost. Rejects with RpcError when it cannot be kept.
 */
export async function joiningKey(folder: string, { secret }: JoinToken): Promise<KeyPair> {
  const digest = secretDigest(secret);
  const kept = readSecretFile(pathIn(folder));
  if (kept.kind === 'read' && kept.text.startsWith(`${digest}\n`)) {
    const key = await readKeyPair(kept.text.slice(digest.length)).catch(() => undefined);
    if (key) return key;
  }
  const key = await makeKeyPair();
  const prepared = prepareDataFolder(folder);
  const written =
    prepared.kind === 'refused' ? prepared : writeFileAtomically(pathIn(folder), `${digest}\n${key.privateKey}`);
  if (written.kind === 'refused') throw new RpcError(status.FAILED_PRECONDITION, 'NOT_WRITTEN', written.message);
  return key;
}

/** After the certificate is there. */
export function forgetJoiningKey(folder: string): void {
  rmSync(pathIn(folder), { force: true });
}

function pathIn(folder: string): string {
  return join(folder, 'joining.pem');
}
