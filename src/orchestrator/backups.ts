import { stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { status } from '@grpc/grpc-js';
import type { BackupProgress, BackupRequest, BackupResponse } from '../../gen/stageplane/v1/admin_service.js';
import { RpcError } from '../grpc/rpc-error.js';
import { type FileRefusal, refuseByCode } from '../process/file-refusal.js';
import { placeFile } from '../process/place-file.js';
import type { BackupOutcome, Store } from '../store/store.js';

/** Backups of a store that is in use, one at a time. */
export class Backups {
  /** The one that is being written. */
  progress: BackupProgress | undefined;
  private readonly stopping = new AbortController();
  private running: Promise<unknown> | undefined;

  constructor(
    private readonly store: Store,
    private readonly dataFolder: string,
  ) {}

  /** Resolves when the file is whole and on the disk. Rejects with RpcError, and then nothing is left of it. */
  async make(request: BackupRequest, signal: AbortSignal): Promise<BackupResponse> {
    const { path, force } = request;
    if (!isAbsolute(path) || path.includes('\0'))
      throw refused('path', `"${path}" is no absolute path: name the file from / on`);
    if (this.progress) {
      const message = `a backup to ${this.progress.path} is being written: wait for it, or cancel it`;
      throw new RpcError(status.ABORTED, 'BACKUP_UNDER_WAY', message);
    }
    this.progress = { path, bytesDone: 0n, bytesTotal: 0n };
    const made = this.write(path, force, AbortSignal.any([signal, this.stopping.signal]));
    this.running = made.catch(() => {});
    return made.finally(() => {
      this.progress = undefined;
    });
  }

  /** Gives up the one that is being written; resolves when nothing is left of it. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async write(path: string, force: boolean, signal: AbortSignal): Promise<BackupResponse> {
    await this.refuseDataFolder(path);
    const placed = await placeFile({
      path,
      force,
      write: async (unfinished) => {
        const onProgress = (done: number, total: number) => {
          this.progress = { path, bytesDone: BigInt(done), bytesTotal: BigInt(total) };
        };
        const outcome = await this.store.backup(unfinished, { signal, onProgress });
        if (outcome.kind === 'made') return { kind: 'written', written: outcome };
        return refusalOf(outcome, path, this.dataFolder);
      },
    });
    if (placed.kind === 'refused') throw failed(placed);
    const { bytes, revision } = placed.written;
    return { bytes: BigInt(bytes), revision };
  }

  /** A backup in the data folder would be lost with it, and might replace what it is made of. */
  private async refuseDataFolder(path: string): Promise<void> {
    const [there, here] = await Promise.all(
      [dirname(path), this.dataFolder].map((folder) => stat(folder).catch(() => {})),
    );
    if (!there || there.dev !== here?.dev || there.ino !== here?.ino) return;
    throw refused('path', `${path} is in the data folder, with which it would be lost: name a file elsewhere`);
  }
}

function refusalOf(outcome: Exclude<BackupOutcome, { kind: 'made' }>, path: string, dataFolder: string): FileRefusal {
  if (outcome.kind === 'cancelled') {
    const message = `the backup to ${path} was cancelled, and nothing is left of it: ask again`;
    return { kind: 'refused', reason: 'cancelled', message };
  }
  const { code, detail } = outcome;
  if (!code.startsWith('SQLITE_CORRUPT')) return refuseByCode(code, path, detail);
  const message = `the database in ${dataFolder} is damaged (${detail}), so no backup was made: keep the last one`;
  return { kind: 'refused', reason: 'damaged', message };
}

function failed({ reason, message }: FileRefusal): RpcError {
  const code = { exists: status.ALREADY_EXISTS, 'disk-full': status.RESOURCE_EXHAUSTED, cancelled: status.CANCELLED };
  const known = code[reason as keyof typeof code] ?? status.FAILED_PRECONDITION;
  return new RpcError(known, `BACKUP_${reason.replace(/-/g, '_').toUpperCase()}`, message);
}

function refused(field: string, description: string): RpcError {
  const fieldViolations = [{ field, description }];
  return new RpcError(status.INVALID_ARGUMENT, 'INVALID_FIELDS', description, { fieldViolations });
}
