import type { WallMillis } from '../core/ids.js';

/**
 * What a call came to. Each kind is bounded by itself, so that no flood of one pushes out another (I16):
 * `change` changed something durable, `use` did not, `refusal` was not let do it, or failed. What changed a run is `run`: a
 * launcher makes and stops as many as it likes, and must not push out who made tokens, revoked or took nodes away.
 */
export type AuditKind = 'change' | 'run' | 'use' | 'refusal';

export const auditKinds: readonly AuditKind[] = ['change', 'run', 'use', 'refusal'];

/** Who did what to which thing, and with what result; never what a prompt, a text or a secret says. */
export interface AuditRecord extends AuditSubject {
  readonly kind: AuditKind;
  /** Of the last of those that are counted here. */
  readonly at: WallMillis;
  /** Of the first of them. */
  readonly since: WallMillis;
  /** Calls that this record stands for, at least 1. */
  readonly count: number;
  readonly by: AuditIdentity;
  /** Such as `stageplane.v1.OrchestratorService/StopRun`; empty where a record stands for several. */
  readonly method: string;
  /** Name of the gRPC status, such as `OK`. */
  readonly code: string;
  /** Of an error, or of a plan that was rejected; else empty. */
  readonly reason: string;
  /** Of a fault of ours: the log has more under it. Else empty. */
  readonly incident: string;
}

/** What a call was about. */
export interface AuditSubject {
  /** For people, such as `run 7`. */
  readonly target: string;
  readonly runId?: bigint | undefined;
  readonly nodeId?: bigint | undefined;
}

export interface AuditIdentity {
  /** `local` is the user of the orchestrator's machine; `several` are counted together, since they were too many. */
  readonly kind: 'certificate' | 'key' | 'local' | 'stranger' | 'several';
  /** Of a certificate or a key; else empty. */
  readonly role: string;
  /** Of the holder of a certificate or of a key, or of a user; else empty. */
  readonly name: string;
  /** Of a certificate, or the id of a key; else empty. */
  readonly serial: string;
  /** Without a port; empty on a Unix socket. */
  readonly address: string;
}

/** A record as a store keeps it. */
export interface StoredAuditRecord extends AuditRecord {
  /** Grows; never given twice. */
  readonly id: bigint;
}

/** Which records are asked for; what is absent does not matter. */
export interface AuditQuery {
  /** Ids above it, lowest first. Without it the highest come first. */
  readonly after?: bigint | undefined;
  /** Ids below it. */
  readonly before?: bigint | undefined;
  readonly since?: WallMillis | undefined;
  readonly until?: WallMillis | undefined;
  /** A name, a serial or an address. */
  readonly by?: string | undefined;
  /** As a whole, or after its slash. */
  readonly method?: string | undefined;
  readonly runId?: bigint | undefined;
  readonly nodeId?: bigint | undefined;
  readonly limit: number;
}
