import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../gen/stageplane/v1/token_endpoint.js';
import type { Revision, RunId } from '../core/ids.js';
import type { Changes } from '../core/machine/changes.js';
import type { StoredWorld } from '../core/machine/state.js';
import type { AuditKind, AuditQuery, AuditRecord, StoredAuditRecord } from './audit-record.js';

/**
 * What survives the orchestrator. One process owns it (a folder lock sees to that) and one loop writes to it, so every
 * method is synchronous: nothing can come between a turn and its commit.
 *
 * Every method throws `StoreError` when the disk does not do its part. Any other exception is a defect. A test suite
 * (test/store/store-contract.ts) holds every implementation to this page.
 */
export interface Store {
  /**
   * Everything that was committed, and nothing else (I11). Nodes, runs and requests come in the order of their node or
   * run id, footprints in that of their revisions, tokens, certificates and keys in that of their names; the `volatile` part of every run and stage is empty.
   */
  load(): StoredWorld;

  /**
   * Makes one turn durable, all or nothing: when it returns, the turn survives kill -9 and power loss (I4); when it
   * throws, the store is as before. One exception: after the kind `io` the outcome is unknown, as after a lost answer;
   * end the process and begin again from `load()`.
   *
   * A run that is deleted takes its events and its answer along, those of the same turn too. Its request record stays, so that the
   * same request cannot have a second effect (I9); of the records whose run is gone only the newest are kept, so that
   * there are never more than `limits.requestRecords` (I16). Of footprints the newest are kept,
   * whatever became of their run.
   *
   * @param audit who asked for the turn: a change that is committed is in the audit log
   */
  commit(changes: Changes, audit?: readonly AuditRecord[]): void;

  /** Makes records durable whose calls changed nothing, all or nothing. */
  addAudit(records: readonly AuditRecord[]): void;

  /** Records of the audit log; the newest of each kind are kept, whatever became of what they are about (I16). */
  auditRecords(query: AuditQuery): StoredAuditRecord[];

  /**
   * Events of one run with a revision above `afterRevision`, in the order of their revisions, at most `limit` (I10).
   * Empty when the run is unknown.
   */
  runEvents(runId: RunId, afterRevision: Revision, limit: number): RunEvent[];

  /** Events of all runs with a revision above `afterRevision`, in the order of their revisions, at most `limit` (I10). */
  events(afterRevision: Revision, limit: number): RunEvent[];

  /** After which revision the newest `count` events come; 0 when there are not more than that. */
  revisionBeforeLast(count: number): Revision;

  /** What a ONE_SHOT run answered; undefined when it has not, or the run is unknown. */
  answer(runId: RunId): TextAnswer | undefined;

  /**
   * Tidies up; may block for some 10 ms. Call it when the loop is idle, so that no commit has to do it.
   */
  checkpoint(): void;

  /**
   * Whether this is a backup that was put in place and nothing has been committed since. Then others may have seen what
   * came after it: the first commit must step over that.
   */
  readonly isBackup: boolean;

  /**
   * Copies all that is committed now to `file`, which exists and is empty. Commits go on meanwhile and are not in it. When
   * this answers `made`, the copy is whole and on the disk, and a store that is opened on it has `isBackup`; after any
   * other answer the file is rubbish and the caller removes it. Never rejects.
   */
  backup(file: string, options: BackupOptions): Promise<BackupOutcome>;

  /** Releases the store; nothing may be called after it. Calling it twice is fine. */
  close(): void;
}

export interface BackupOptions {
  /** Gives the backup up. */
  readonly signal: AbortSignal;
  /** Bytes so far, and in all. */
  readonly onProgress: (done: number, total: number) => void;
}

export type BackupOutcome =
  | { readonly kind: 'made'; readonly bytes: number; readonly revision: Revision }
  | { readonly kind: 'cancelled' }
  /** `code` is the database's or the system's, such as `SQLITE_FULL` or `ENOSPC`. */
  | { readonly kind: 'failed'; readonly code: string; readonly detail: string };

/** Records of the audit log that a store keeps, of each kind. */
export type AuditBounds = Readonly<Record<AuditKind, number>>;

/** How many records a store keeps. */
export interface StoreBounds {
  /** Default `limits.requestRecords`. */
  readonly requestRecords?: number | undefined;
  /** Default `limits.footprintRecords`. */
  readonly footprintRecords?: number | undefined;
  /** Default `limits.auditRecords`; up to 256 more are there at times. */
  readonly auditRecords?: AuditBounds | undefined;
}

export interface StoreOptions extends StoreBounds {
  /** Called once in the life of a cluster, when nothing is stored yet. The epoch of the new cluster is 0. */
  readonly newClusterId: () => string;
}
