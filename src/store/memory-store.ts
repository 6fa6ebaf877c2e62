import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../gen/stageplane/v1/token_endpoint.js';
import { type NodeId, type Revision, type RunId, revision } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { CertificateRecord, KeyRecord, TokenRecord } from '../core/machine/access-records.js';
import type { Changes } from '../core/machine/changes.js';
import { replaceAll } from '../core/machine/overlay.js';
import type {
  ClusterState,
  FootprintRecord,
  NodeState,
  RequestRecord,
  RunState,
  StoredWorld,
} from '../core/machine/state.js';
import { withoutVolatile } from '../core/machine/without-volatile.js';
import { type AuditQuery, type AuditRecord, auditKinds, type StoredAuditRecord } from './audit-record.js';
import { checkStorable } from './check-storable.js';
import { firstCluster } from './first-cluster.js';
import type { AuditBounds, BackupOptions, BackupOutcome, Store, StoreOptions } from './store.js';

/** What it has, as a backup has it. */
interface Content {
  readonly world: StoredWorld;
  readonly events: ReadonlyMap<RunId, RunEvent[]>;
  readonly answers: ReadonlyMap<RunId, TextAnswer>;
  readonly audit: readonly StoredAuditRecord[];
}

/** A store without a disk, for simulations and tests: it survives `close`, but not the process. */
export class MemoryStore implements Store {
  isBackup = false;
  private cluster: ClusterState;
  private readonly requestRecords: number;
  private readonly footprintRecords: number;
  private readonly nodes = new Map<NodeId, NodeState>();
  private readonly runs = new Map<RunId, RunState>();
  private readonly requests = new Map<string, RequestRecord>();
  private readonly ofRuns = new Map<RunId, RunEvent[]>();
  private readonly answers = new Map<RunId, TextAnswer>();
  private readonly footprints = new Map<string, FootprintRecord>();
  private readonly tokens = new Map<string, TokenRecord>();
  private audit: StoredAuditRecord[] = [];
  private nextAuditId = 1n;
  private readonly auditBounds: AuditBounds;
  private readonly certificates = new Map<string, CertificateRecord>();
  private readonly keys = new Map<string, KeyRecord>();

  constructor(options: StoreOptions) {
    this.cluster = firstCluster(options.newClusterId());
    this.requestRecords = options.requestRecords ?? limits.requestRecords;
    this.footprintRecords = options.footprintRecords ?? limits.footprintRecords;
    this.auditBounds = options.auditRecords ?? limits.auditRecords;
  }

  /** A store with the content of a backup. */
  static fromBackup(file: string, options: StoreOptions): MemoryStore {
    const { world, events, answers, audit } = deserialize(readFileSync(file)) as Content;
    const store = new MemoryStore(options);
    const runs = world.runs.map((after) => ({ before: undefined, after }));
    const parts = { deletedNodes: [], deletedRuns: [], events: [...events.values()].flat(), answers: [] };
    const tokens = new Map(world.tokens.map((token) => [token.digest, token]));
    const certificates = new Map(world.certificates.map((certificate) => [certificate.serial, certificate]));
    const keys = new Map(world.keys.map((key) => [key.digest, key]));
    store.commit({ ...world, ...parts, runs, tokens, certificates, keys });
    for (const [id, answer] of answers) store.answers.set(id, answer);
    store.audit = [...audit];
    store.nextAuditId = (audit.at(-1)?.id ?? 0n) + 1n;
    store.isBackup = true;
    return store;
  }

  load(): StoredWorld {
    return {
      cluster: this.cluster,
      nodes: ascending(this.nodes.values(), (node) => node.nodeId),
      runs: ascending(this.runs.values(), (run) => run.runId).map(withoutVolatile),
      requests: ascending(this.requests.values(), (request) => request.runId),
      footprints: ascending(this.footprints.values(), (record) => record.revision),
      tokens: inOrder(this.tokens),
      certificates: inOrder(this.certificates),
      keys: inOrder(this.keys),
    };
  }

  commit(changes: Changes, audit: readonly AuditRecord[] = []): void {
    // All checks come before the first change: that is what makes it all or nothing.
    checkStorable(changes);
    const deleted = new Set(changes.deletedRuns);
    const events = changes.events.filter((event) => !deleted.has(event.runId as RunId));
    for (const event of events) this.checkEvent(event, changes);
    const answers = changes.answers.filter(({ runId }) => !deleted.has(runId));
    for (const { runId } of answers) this.checkRun(runId, changes, 'an answer');

    this.isBackup = false;
    this.cluster = changes.cluster;
    for (const node of changes.nodes) this.nodes.set(node.nodeId, node);
    for (const id of changes.deletedNodes) this.nodes.delete(id);
    for (const { after } of changes.runs) this.runs.set(after.runId, after);
    for (const request of changes.requests) this.requests.set(request.requestId, request);
    for (const event of events) this.appendEvent(event);
    for (const { runId, answer } of answers) this.answers.set(runId, answer);
    for (const record of changes.footprints) this.footprints.set(record.key, record);
    for (const id of deleted) {
      this.runs.delete(id);
      this.ofRuns.delete(id);
      this.answers.delete(id);
    }
    replaceAll(this.tokens, changes.tokens);
    replaceAll(this.certificates, changes.certificates);
    replaceAll(this.keys, changes.keys);
    this.forgetSpentRequests();
    this.forgetOldFootprints();
    this.addAudit(audit);
  }

  addAudit(records: readonly AuditRecord[]): void {
    for (const record of records) this.audit.push({ ...record, id: this.nextAuditId++ });
    for (const kind of auditKinds) {
      const ofKind = this.audit.filter((record) => record.kind === kind);
      const old = new Set(ofKind.slice(0, Math.max(0, ofKind.length - this.auditBounds[kind])));
      if (old.size > 0) this.audit = this.audit.filter((record) => !old.has(record));
    }
  }

  auditRecords(query: AuditQuery): StoredAuditRecord[] {
    const found = this.audit.filter((record) => isAsked(record, query));
    return (query.after === undefined ? found.reverse() : found).slice(0, query.limit);
  }

  runEvents(runId: RunId, afterRevision: Revision, limit: number): RunEvent[] {
    const events = this.ofRuns.get(runId) ?? [];
    return events.filter((event) => event.revision > afterRevision).slice(0, limit);
  }

  events(afterRevision: Revision, limit: number): RunEvent[] {
    return this.allEvents()
      .filter((event) => event.revision > afterRevision)
      .slice(0, limit);
  }

  revisionBeforeLast(count: number): Revision {
    return revision(this.allEvents().at(-1 - count)?.revision ?? 0n);
  }

  answer(runId: RunId): TextAnswer | undefined {
    return this.answers.get(runId);
  }

  checkpoint(): void {}

  async backup(file: string, { signal }: BackupOptions): Promise<BackupOutcome> {
    if (signal.aborted) return { kind: 'cancelled' };
    const content: Content = { world: this.load(), events: this.ofRuns, answers: this.answers, audit: this.audit };
    try {
      const bytes = serialize(content);
      writeFileSync(file, bytes);
      return { kind: 'made', bytes: bytes.length, revision: this.cluster.revision };
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      return { kind: 'failed', code, detail: message };
    }
  }

  close(): void {}

  private allEvents(): RunEvent[] {
    return ascending([...this.ofRuns.values()].flat(), (event) => event.revision);
  }

  private checkEvent(event: RunEvent, changes: Changes): void {
    if (event.revision <= this.cluster.revision) throw new Error(`revision ${event.revision} was committed before`);
    this.checkRun(event.runId as RunId, changes, 'an event');
  }

  private checkRun(id: RunId, changes: Changes, what: string): void {
    const known = changes.runs.some(({ after }) => after.runId === id) || this.runs.has(id);
    if (!known) throw new Error(`${what} of the unknown run ${id}`);
  }

  private appendEvent(event: RunEvent): void {
    const events = this.ofRuns.get(event.runId as RunId) ?? [];
    this.ofRuns.set(event.runId as RunId, [...events, event]);
  }

  private forgetSpentRequests(): void {
    const excess = this.requests.size - this.requestRecords;
    if (excess <= 0) return;
    const spent = [...this.requests.values()].filter((request) => !this.runs.has(request.runId));
    for (const { requestId } of ascending(spent, (request) => request.runId).slice(0, excess)) {
      this.requests.delete(requestId);
    }
  }

  private forgetOldFootprints(): void {
    const excess = Math.max(0, this.footprints.size - this.footprintRecords);
    for (const { key } of ascending(this.footprints.values(), (record) => record.revision).slice(0, excess)) {
      this.footprints.delete(key);
    }
  }
}

function isAsked(record: StoredAuditRecord, query: AuditQuery): boolean {
  const { by, method } = record;
  const isWithin = record.at >= (query.since ?? 0) && record.since <= (query.until ?? Number.POSITIVE_INFINITY);
  const isPast = record.id > (query.after ?? -1n) && (query.before === undefined || record.id < query.before);
  const isTheirs = query.by === undefined || [by.name, by.serial, by.address].includes(query.by);
  const names = [method, method.slice(method.indexOf('/') + 1)];
  const isThat = query.method === undefined || names.includes(query.method);
  const isAbout = [query.runId ?? record.runId, query.nodeId ?? record.nodeId];
  return isWithin && isPast && isTheirs && isThat && isAbout[0] === record.runId && isAbout[1] === record.nodeId;
}

function ascending<T>(items: Iterable<T>, key: (item: T) => bigint): T[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b))));
}

function inOrder<T>(records: ReadonlyMap<string, T>): T[] {
  return [...records].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
}
