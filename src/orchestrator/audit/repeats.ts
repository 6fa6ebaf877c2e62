import { limits } from '../../core/limits.js';
import type { AuditIdentity, AuditRecord } from '../../store/audit-record.js';

const several: AuditIdentity = { kind: 'several', role: '', name: '', serial: '', address: '' };

/**
 * Calls that changed nothing cost a caller nothing, so a flood of them must not fill the log: the first of its kind in a
 * window is written, those after it are counted, and when there are too many different ones they are counted together (I16).
 */
export class Repeats {
  /** What is counted so far, by what makes calls alike; undefined while there was only the first. */
  private readonly counted = new Map<string, AuditRecord | undefined>();
  /** By kind and sort of caller: strangers must not hide what somebody does who has a certificate. */
  private readonly written = new Map<string, number>();

  /** Gives the record back when it is to be written now. */
  take(record: AuditRecord): AuditRecord | undefined {
    const key = likeness(record);
    if (this.counted.has(key)) return this.count(key, record);
    const sort = `${record.kind} of ${record.by.kind}`;
    const written = this.written.get(sort) ?? 0;
    if (written >= limits.auditPerWindow) {
      return this.count(sort, { ...record, by: several, method: '', reason: '', incident: '' });
    }
    this.written.set(sort, written + 1);
    this.counted.set(key, undefined);
    return record;
  }

  /** Ends the window: one record for all that was counted of a kind. */
  drain(): AuditRecord[] {
    const records = [...this.counted.values()].filter((record) => record !== undefined);
    this.counted.clear();
    this.written.clear();
    return records;
  }

  private count(key: string, record: AuditRecord): undefined {
    const before = this.counted.get(key);
    if (!before) this.counted.set(key, record);
    else this.counted.set(key, { ...record, ...common(before, record), since: before.since, count: before.count + 1 });
  }
}

/** What a refused call was about is the caller's to invent, so it makes no difference. */
function likeness({ kind, by, method, code, reason, target }: AuditRecord): string {
  const who = [by.kind, by.serial, by.name, by.serial === '' ? by.address : ''];
  return JSON.stringify([kind, ...who, method, code, reason, kind === 'use' ? target : '']);
}

function common(a: AuditRecord, b: AuditRecord) {
  return {
    target: a.target === b.target ? a.target : '',
    runId: a.runId === b.runId ? a.runId : undefined,
    nodeId: a.nodeId === b.nodeId ? a.nodeId : undefined,
    code: a.code === b.code ? a.code : '',
  };
}
