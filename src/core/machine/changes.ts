import type { RunEvent } from '../../../gen/stageplane/v1/run.js';
import type { NodeId, RunId } from '../ids.js';
import type { CertificateRecord, KeyRecord, TokenRecord } from './access-records.js';
import type { ClusterState, FootprintRecord, NodeState, RequestRecord, RunAnswer, RunState } from './state.js';

/** What one turn changes durably. The store takes it in one transaction. */
export interface Changes {
  readonly cluster: ClusterState;
  readonly nodes: readonly NodeState[];
  readonly deletedNodes: readonly NodeId[];
  /** `before` lets the store write only the stages that differ. */
  readonly runs: readonly { readonly before: RunState | undefined; readonly after: RunState }[];
  readonly deletedRuns: readonly RunId[];
  readonly requests: readonly RequestRecord[];
  readonly events: readonly RunEvent[];
  readonly answers: readonly RunAnswer[];
  readonly footprints: readonly FootprintRecord[];
  /** By digest; undefined deletes. */
  readonly tokens: ReadonlyMap<string, TokenRecord | undefined>;
  /** By serial; undefined deletes. */
  readonly certificates: ReadonlyMap<string, CertificateRecord | undefined>;
  /** By digest; undefined deletes. */
  readonly keys: ReadonlyMap<string, KeyRecord | undefined>;
}
