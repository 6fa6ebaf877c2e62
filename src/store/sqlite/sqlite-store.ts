import type { Database } from 'better-sqlite3';
import type { RunEvent } from '../../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { Revision, RunId } from '../../core/ids.js';
import { limits } from '../../core/limits.js';
import type { Changes } from '../../core/machine/changes.js';
import type { StoredWorld } from '../../core/machine/state.js';
import type { AuditQuery, AuditRecord, StoredAuditRecord } from '../audit-record.js';
import { checkStorable } from '../check-storable.js';
import type { BackupOptions, BackupOutcome, Store, StoreBounds, StoreOptions } from '../store.js';
import { StoreError } from '../store-error.js';
import { answerRows } from './answer-rows.js';
import { auditRows } from './audit-rows.js';
import { backupDatabase } from './backup-database.js';
import { certificateRows } from './certificate-rows.js';
import { clusterRow } from './cluster-row.js';
import { databaseFiles } from './database-files.js';
import { eventRows } from './event-rows.js';
import { footprintRows } from './footprint-rows.js';
import { keyRows } from './key-rows.js';
import { isBackup, markInUse } from './migrate.js';
import { nodeRows } from './node-rows.js';
import { openDatabase } from './open-database.js';
import { putEach } from './put-each.js';
import { requestRows } from './request-rows.js';
import { runRows } from './run-rows.js';
import { withStoreErrors } from './store-error-of.js';
import { tokenRows } from './token-rows.js';

/**
 * Opens the store of a data folder; a new cluster begins when the folder has none. The caller holds the folder's lock.
 *
 * @throws StoreError of every kind.
 */
export function openSqliteStore(folder: string, options: StoreOptions): SqliteStore {
  return new SqliteStore(openDatabase(folder, options.newClusterId), folder, options);
}

/** The embedded store: one file beside its log, one transaction per turn. */
export class SqliteStore implements Store {
  private readonly cluster;
  private readonly nodes;
  private readonly runs;
  private readonly requests;
  private readonly eventRows;
  private readonly answers;
  private readonly footprints;
  private readonly tokens;
  private readonly keys;
  private readonly certificates;
  private readonly audit;
  private readonly write;
  private untouched: boolean;

  /** `db` is open, configured and migrated. */
  constructor(
    private readonly db: Database,
    private readonly folder: string,
    bounds: StoreBounds = {},
  ) {
    this.cluster = clusterRow(db);
    this.nodes = nodeRows(db);
    this.runs = runRows(db);
    this.requests = requestRows(db, bounds.requestRecords ?? limits.requestRecords);
    this.eventRows = eventRows(db);
    this.answers = answerRows(db);
    this.footprints = footprintRows(db, bounds.footprintRecords ?? limits.footprintRecords);
    this.tokens = tokenRows(db);
    this.certificates = certificateRows(db);
    this.keys = keyRows(db);
    this.untouched = isBackup(db);
    this.audit = auditRows(db, bounds.auditRecords ?? limits.auditRecords);
    this.write = db.transaction((changes: Changes | undefined, audit: readonly AuditRecord[]) => {
      if (changes) this.putAll(changes);
      for (const record of audit) this.audit.add(record);
    });
  }

  load(): StoredWorld {
    return withStoreErrors(this.folder, () => this.db.transaction(() => this.readAll())());
  }

  commit(changes: Changes, audit: readonly AuditRecord[] = []): void {
    checkStorable(changes);
    withStoreErrors(this.folder, () => this.write.immediate(changes, audit));
    this.untouched = false;
  }

  addAudit(records: readonly AuditRecord[]): void {
    withStoreErrors(this.folder, () => this.write.immediate(undefined, records));
  }

  auditRecords(query: AuditQuery): StoredAuditRecord[] {
    return withStoreErrors(this.folder, () => this.audit.find(query));
  }

  get isBackup(): boolean {
    return this.untouched;
  }

  backup(file: string, options: BackupOptions): Promise<BackupOutcome> {
    return backupDatabase(databaseFiles(this.folder).database, file, options);
  }

  runEvents(runId: RunId, afterRevision: Revision, limit: number): RunEvent[] {
    return withStoreErrors(this.folder, () => this.eventRows.after(runId, afterRevision, limit));
  }

  events(afterRevision: Revision, limit: number): RunEvent[] {
    return withStoreErrors(this.folder, () => this.eventRows.ofAll(afterRevision, limit));
  }

  revisionBeforeLast(count: number): Revision {
    return withStoreErrors(this.folder, () => this.eventRows.revisionBeforeLast(count));
  }

  answer(runId: RunId): TextAnswer | undefined {
    return withStoreErrors(this.folder, () => this.answers.of(runId));
  }

  checkpoint(): void {
    withStoreErrors(this.folder, () => this.db.pragma('wal_checkpoint(PASSIVE)'));
  }

  close(): void {
    withStoreErrors(this.folder, () => this.db.close());
  }

  private putAll(changes: Changes): void {
    const deleted = new Set(changes.deletedRuns);
    if (this.untouched) markInUse(this.db);
    this.cluster.put(changes.cluster);
    for (const node of changes.nodes) this.nodes.put(node);
    for (const id of changes.deletedNodes) this.nodes.delete(id);
    for (const { before, after } of changes.runs) this.runs.put(before, after);
    for (const request of changes.requests) this.requests.put(request);
    // A run may come and go within one turn: then there is no row that its events and answer could refer to.
    for (const event of changes.events) if (!deleted.has(event.runId as RunId)) this.eventRows.add(event);
    for (const answer of changes.answers) if (!deleted.has(answer.runId)) this.answers.put(answer);
    for (const record of changes.footprints) this.footprints.put(record);
    for (const id of deleted) this.runs.delete(id);
    putEach(this.tokens, changes.tokens);
    putEach(this.certificates, changes.certificates);
    putEach(this.keys, changes.keys);
    if (changes.requests.length + deleted.size > 0) this.requests.forgetSpent();
    if (changes.footprints.length > 0) this.footprints.forgetOld();
  }

  private readAll(): StoredWorld {
    try {
      const cluster = this.cluster.get();
      if (!cluster) throw new Error('it has no cluster');
      return {
        cluster,
        nodes: this.nodes.all(),
        runs: this.runs.all(),
        requests: this.requests.all(),
        footprints: this.footprints.all(),
        tokens: this.tokens.all(),
        certificates: this.certificates.all(),
        keys: this.keys.all(),
      };
    } catch (error) {
      // Errors of SQLite have a code and are sorted out elsewhere; what is left is a row that cannot be understood.
      if (!(error instanceof Error) || 'code' in error) throw error;
      throw new StoreError('corrupt', this.folder, error.message, error);
    }
  }
}
