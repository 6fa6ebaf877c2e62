import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import { type RunId, revision } from '../../src/core/ids.js';
import type { Changes } from '../../src/core/machine/changes.js';
import type { ClusterState, RunAnswer, RunState, StoredWorld } from '../../src/core/machine/state.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { StoreError } from '../../src/store/store-error.js';

/** What happens to the next commit. */
export type CommitFault =
  /** Nothing was written, and it is known. */
  | 'disk-full'
  /** It was written, and the answer is lost. */
  | 'answer-lost'
  /** It was not written, and nobody can know. */
  | 'write-lost'
  /** It was written; then the process is killed, before anything is sent. */
  | 'killed-after';

interface Backup {
  readonly world: StoredWorld;
  readonly events: readonly RunEvent[];
  readonly answers: readonly RunAnswer[];
}

/** A disk under a store: it survives the process, and may fail at any commit. */
export class StoreModel implements Store {
  #inner: MemoryStore;
  #faults: CommitFault[] = [];
  /** What is durable, for whoever checks a turn against it. */
  cluster: ClusterState;
  readonly runs = new Map<RunId, RunState>();
  #backup: Backup | undefined;

  constructor(
    clusterId: string,
    private readonly happened: (fault: CommitFault) => void,
  ) {
    this.#inner = new MemoryStore({ newClusterId: () => clusterId });
    this.cluster = this.#inner.load().cluster;
  }

  /** From the next commit on, one each. */
  fail(...faults: CommitFault[]): void {
    this.#faults.push(...faults);
  }

  heal(): void {
    this.#faults = [];
  }

  makeBackup(): void {
    const world = this.load();
    const events = this.#inner.events(revision(0n), Number.MAX_SAFE_INTEGER);
    const answers = world.runs.flatMap(({ runId }) => {
      const answer = this.#inner.answer(runId);
      return answer ? [{ runId, answer }] : [];
    });
    this.#backup = { world, events, answers };
  }

  /** What came after the backup is lost. False when there is none, or it was put back before. */
  putBack(): boolean {
    if (!this.#backup) return false;
    const { world, events, answers } = this.#backup;
    this.#backup = undefined;
    const runs = world.runs.map((after) => ({ before: undefined, after }));
    const nothing = { deletedNodes: [], deletedRuns: [], tokens: new Map(), certificates: new Map(), keys: new Map() };
    this.#inner = new MemoryStore({ newClusterId: () => world.cluster.clusterId });
    this.#inner.commit({ ...world, ...nothing, runs, events, answers });
    this.#inner.isBackup = true;
    this.cluster = world.cluster;
    this.runs.clear();
    for (const run of world.runs) this.runs.set(run.runId, run);
    return true;
  }

  load(): StoredWorld {
    return this.#inner.load();
  }

  commit(changes: Changes): void {
    const fault = this.#faults.shift();
    if (fault === 'disk-full' || fault === 'write-lost') this.#refuse(fault);
    this.#inner.commit(changes);
    this.cluster = changes.cluster;
    for (const { after } of changes.runs) this.runs.set(after.runId, after);
    for (const id of changes.deletedRuns) this.runs.delete(id);
    if (fault === 'answer-lost') this.#refuse(fault);
    if (fault === 'killed-after') this.happened(fault);
  }

  runEvents(...args: Parameters<Store['runEvents']>): RunEvent[] {
    return this.#inner.runEvents(...args);
  }

  events(...args: Parameters<Store['events']>): RunEvent[] {
    return this.#inner.events(...args);
  }

  revisionBeforeLast(...args: Parameters<Store['revisionBeforeLast']>) {
    return this.#inner.revisionBeforeLast(...args);
  }

  answer(...args: Parameters<Store['answer']>) {
    return this.#inner.answer(...args);
  }

  addAudit(...args: Parameters<Store['addAudit']>): void {
    this.#inner.addAudit(...args);
  }

  auditRecords(...args: Parameters<Store['auditRecords']>) {
    return this.#inner.auditRecords(...args);
  }

  checkpoint(): void {}

  get isBackup(): boolean {
    return this.#inner.isBackup;
  }

  backup(...args: Parameters<Store['backup']>) {
    return this.#inner.backup(...args);
  }

  close(): void {}

  #refuse(fault: CommitFault): never {
    this.happened(fault);
    throw new StoreError(fault === 'disk-full' ? 'disk-full' : 'io', '/data', 'it was the simulation');
  }
}
