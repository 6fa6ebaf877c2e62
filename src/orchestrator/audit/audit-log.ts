import type { Logger } from 'pino';
import type { WallMillis } from '../../core/ids.js';
import { limits } from '../../core/limits.js';
import type { Effect } from '../../core/machine/effects.js';
import type { CallId, ClusterEvent } from '../../core/machine/events.js';
import type { AuditIdentity, AuditKind, AuditRecord, AuditSubject } from '../../store/audit-record.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../clock.js';
import type { Testimony, Witness } from '../loop.js';
import { Repeats } from './repeats.js';
import { subjectOfChange } from './subject-of-change.js';

/** A call that is being answered. */
export interface AuditEntry {
  readonly by: AuditIdentity;
  readonly method: string;
  readonly since: WallMillis;
  subject: AuditSubject;
  /** Its change is committed, and a record of it with it. */
  isRecorded: boolean;
  asked?: { readonly call: CallId; readonly event: ClusterEvent } | undefined;
}

/** How a call ended. */
export interface AuditOutcome {
  readonly code: string;
  readonly reason?: string | undefined;
  readonly incident?: string | undefined;
}

/**
 * Who did what. A change has its record in its own commit, so the log never lacks one and never has one that did not
 * happen; what changed nothing is written soon after, many at once.
 */
export class AuditLog implements Witness {
  /** By the context of the call, with which its body asks. */
  private readonly current = new WeakMap<object, AuditEntry>();
  private readonly open = new Map<CallId, AuditEntry>();
  private readonly repeats = new Repeats();
  private waiting: AuditRecord[] = [];
  private callOffFlush: (() => void) | undefined;
  private callOffWindow: (() => void) | undefined;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  begin(by: AuditIdentity, method: string, subject: AuditSubject): AuditEntry {
    return { by, method, since: this.clock.wall(), subject, isRecorded: false };
  }

  /** What is asked of the loop with this context is the entry's doing. */
  attribute(context: object, entry: AuditEntry): void {
    this.current.set(context, entry);
  }

  /** Once per entry. */
  end(entry: AuditEntry, outcome: AuditOutcome): void {
    if (entry.asked) this.open.delete(entry.asked.call);
    if (entry.isRecorded && outcome.code === 'OK') return;
    const kind = outcome.code === 'OK' || outcome.code === 'CANCELLED' ? 'use' : 'refusal';
    this.note(recordOf(entry, kind, this.clock.wall(), outcome));
  }

  /** Writes down what waits; what cannot be written waits on. */
  flush(): void {
    this.callOffFlush?.();
    this.callOffFlush = undefined;
    if (this.waiting.length === 0) return;
    try {
      this.store.addAudit(this.waiting);
      this.waiting = [];
    } catch (error) {
      this.logger.error({ err: error, records: this.waiting.length }, 'audit records cannot be written, they wait');
      this.flushSoon(limits.auditWindowMillis);
    }
  }

  /** Ends the window too; nothing may be noted after it. */
  stop(): void {
    this.closeWindow();
    this.flush();
    this.callOffFlush?.();
  }

  // --- the loop's witness

  asks(call: CallId, event: ClusterEvent, context: object): void {
    const entry = this.current.get(context);
    if (!entry) return;
    entry.asked = { call, event };
    this.open.set(call, entry);
  }

  testify(effects: readonly Effect[], at: WallMillis): Testimony {
    const entries: AuditEntry[] = [];
    const records: AuditRecord[] = [];
    for (const effect of effects) {
      const entry = effect.kind === 'answer' ? this.open.get(effect.call) : undefined;
      if (effect.kind !== 'answer' || !entry?.asked) continue;
      const subject = subjectOfChange(entry.asked.event, effect.answer);
      if (!subject) continue;
      entry.subject = { ...entry.subject, ...subject };
      entries.push(entry);
      const kind = entry.subject.runId === undefined ? 'change' : 'run';
      records.push(recordOf(entry, kind, at, { code: 'OK' }));
    }
    const confirm = () => {
      for (const entry of entries) entry.isRecorded = true;
    };
    return { records, confirm };
  }

  private note(record: AuditRecord): void {
    this.callOffWindow ??= this.clock.after(limits.auditWindowMillis, () => this.closeWindow());
    const toWrite = this.repeats.take(record);
    if (toWrite) this.write([toWrite]);
  }

  private closeWindow(): void {
    this.callOffWindow?.();
    this.callOffWindow = undefined;
    this.write(this.repeats.drain());
  }

  private write(records: readonly AuditRecord[]): void {
    if (records.length === 0) return;
    const room = limits.auditWaiting - this.waiting.length;
    if (records.length > room) this.logger.error({ records: records.length - room }, 'audit records are lost');
    this.waiting.push(...records.slice(0, room));
    this.flushSoon(limits.auditWaitMillis);
  }

  private flushSoon(millis: number): void {
    this.callOffFlush ??= this.clock.after(millis, () => this.flush());
  }
}

function recordOf(
  { by, method, since, subject }: AuditEntry,
  kind: AuditKind,
  at: WallMillis,
  { code, reason = '', incident = '' }: AuditOutcome,
): AuditRecord {
  return { kind, at, since, count: 1, by, method, ...subject, code, reason, incident };
}
