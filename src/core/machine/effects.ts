import type { SubscribeResponse } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { PlanReport } from '../../../gen/stageplane/v1/planner.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import type { Millis, NodeId, RunId, SessionId } from '../ids.js';
import type { Holder } from './access-records.js';
import type { CallId, Timer } from './events.js';

/** What must be done once the turn is committed (I4). The machine does none of it. */
export type Effect =
  | {
      readonly kind: 'send';
      readonly session: SessionId;
      readonly message: SubscribeResponse;
    }
  | {
      readonly kind: 'close-session';
      readonly session: SessionId;
      readonly why: SessionRefusal;
    }
  | { readonly kind: 'answer'; readonly call: CallId; readonly answer: Answer }
  | { readonly kind: 'arm'; readonly timer: Timer; readonly at: Millis }
  /** A token endpoint shall connect to the stages of a run; `token-endpoint-ready` or `-lost` follows. */
  | { readonly kind: 'open-token-endpoint'; readonly runId: RunId; readonly generation: number }
  /** Nothing of it may be left; a lost one is closed too. */
  | {
      readonly kind: 'close-token-endpoint';
      readonly runId: RunId;
      readonly generation: number;
      readonly reason: string;
    }
  /** The prompt of a ONE_SHOT run is due; `answer-ended` or `answer-failed` follows. */
  | { readonly kind: 'begin-answer'; readonly runId: RunId; readonly generation: number }
  /** `token-endpoint-quiet` follows when no answer of a SERVING run is under way. */
  | { readonly kind: 'await-quiet'; readonly runId: RunId; readonly generation: number }
  | {
      readonly kind: 'say';
      readonly level: 'info' | 'warn';
      readonly message: string;
      readonly fields: LogFields;
    };

export type LogFields = Readonly<Record<string, string | number | bigint | boolean>>;

/** Why a session is refused or closed. `code` is the gRPC status name. */
export interface SessionRefusal {
  readonly code:
    | 'PERMISSION_DENIED'
    | 'ALREADY_EXISTS'
    | 'FAILED_PRECONDITION'
    | 'RESOURCE_EXHAUSTED'
    | 'ABORTED'
    | 'UNAVAILABLE';
  readonly reason: string;
  readonly message: string;
}

/** What a waiting caller is told. */
export type Answer =
  | {
      readonly kind: 'run';
      readonly runId: RunId;
      readonly report?: PlanReport | undefined;
    }
  | {
      readonly kind: 'rejected';
      readonly rejection: PlanRejection;
      readonly report: PlanReport;
    }
  | {
      readonly kind: 'stale';
      readonly message: string;
      /** Why the dry run's plan is none any more; absent when it is only another one. */
      readonly rejection: PlanRejection | undefined;
      readonly report: PlanReport;
    }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'node'; readonly nodeId: NodeId }
  | { readonly kind: 'unknown-run'; readonly runId: RunId }
  | { readonly kind: 'unknown-node'; readonly nodeId: NodeId }
  | { readonly kind: 'request-conflict'; readonly requestId: string }
  | {
      readonly kind: 'request-spent';
      readonly requestId: string;
      readonly runId: RunId;
    }
  | {
      readonly kind: 'run-not-done';
      readonly runId: RunId;
      readonly phase: string;
      readonly lostNode?: string | undefined;
    }
  | { readonly kind: 'too-many-runs'; readonly limit: number }
  | { readonly kind: 'node-connected'; readonly nodeId: NodeId; readonly name: string }
  | { readonly kind: 'token-kept' }
  | { readonly kind: 'key-kept' }
  | { readonly kind: 'key-revoked'; readonly name: string }
  | { readonly kind: 'enrolled'; readonly holder: Holder }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'revoked'; readonly serials: readonly string[] }
  | AccessRefusal;

/** Why a token or certificate is not made, or does not do. `code` is the gRPC status name. */
export interface AccessRefusal {
  readonly kind: 'access-refused';
  readonly code: 'INVALID_ARGUMENT' | 'NOT_FOUND' | 'ALREADY_EXISTS' | 'PERMISSION_DENIED' | 'RESOURCE_EXHAUSTED';
  readonly reason: string;
  readonly message: string;
}
