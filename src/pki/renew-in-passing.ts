import { limits } from '../core/limits.js';
import { RpcError } from '../grpc/rpc-error.js';
import { lockFolder } from '../process/folder-lock.js';
import { readCredentials, writeCredentials } from './credential-folder.js';
import type { FoundCredentials } from './find-credentials.js';
import { renew, renewalTime } from './renew.js';

/**
 * Renews what a launcher or viewer has shown, once half of its life is over. Says nothing and never rejects: what was shown
 * stays good to its end, and the next command tries again.
 *
 * @param address of an orchestrator that has just answered
 */
export async function renewInPassing(address: string, found: FoundCredentials | undefined): Promise<void> {
  // The operator's own lasts as long as the CA beside it, and agents renew theirs.
  if (found?.file !== 'client' || !isDue(found)) return;
  // Commands that run at once renew once, and no two write one file.
  const lock = lockFolder(found.folder);
  if (lock.kind === 'refused') return;
  try {
    const now = readCredentials(found.folder, 'client');
    if (now.kind !== 'read' || !isDue(now)) return;
    writeCredentials(found.folder, 'client', await renew(address, now.credentials, limits.passingRenewalMillis));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
  } finally {
    lock.release();
  }
}

function isDue({ credentials }: Pick<FoundCredentials, 'credentials'>): boolean {
  return renewalTime(credentials.certificate) <= Date.now();
}
