import type { ModelInspection } from '../../../gen/stageplane/v1/model.js';
import type { DeviceUsage, HeldStageUsage, Hello, StageReport } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { PlanRequest, SelectedPlan } from '../../../gen/stageplane/v1/planner.js';
import type { RestartPolicy, StageFault } from '../../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { NodeId, RunId, SessionId, WallMillis } from '../ids.js';
import type { ModelCuts } from '../planner/model-cuts.js';
import type { CertificateRecord, KeyRecord, TokenRecord } from './access-records.js';

/** Names a caller that waits for an answer. */
export type CallId = number;

/** What a timer is about. A timer is a hint: the machine looks whether the moment has really come. */
export type Timer =
  | {
      readonly kind: 'stage';
      readonly runId: RunId;
      readonly stageIndex: number;
      readonly generation: number;
    }
  | { readonly kind: 'grace'; readonly nodeId: NodeId }
  | { readonly kind: 'fence'; readonly nodeId: NodeId }
  | { readonly kind: 'cause'; readonly runId: RunId }
  | { readonly kind: 'edges'; readonly runId: RunId }
  | { readonly kind: 'restart'; readonly runId: RunId }
  | { readonly kind: 'drain'; readonly nodeId: NodeId };

/** Everything that can happen to the orchestrator. Validated at the edge; past tense. */
export type ClusterEvent =
  | {
      readonly kind: 'hello-received';
      readonly session: SessionId;
      readonly hello: Hello;
      /** The node of the agent's certificate; absent where nobody has one. */
      readonly enrolled?: NodeId | undefined;
    }
  | {
      readonly kind: 'session-ended';
      readonly session: SessionId;
      readonly goodbye: boolean;
    }
  | {
      readonly kind: 'delivery-acked';
      readonly session: SessionId;
      readonly deliveryId: bigint;
    }
  | {
      readonly kind: 'delivery-refused';
      readonly session: SessionId;
      readonly deliveryId: bigint;
      readonly fault: StageFault;
    }
  | {
      readonly kind: 'stage-reported';
      readonly session: SessionId;
      readonly report: StageReport;
    }
  | {
      readonly kind: 'heartbeat-received';
      readonly session: SessionId;
      readonly sequence: bigint;
      readonly usage: readonly DeviceUsage[];
      /** What the node's ready stages hold. */
      readonly stages: readonly HeldStageUsage[];
    }
  | {
      readonly kind: 'run-requested';
      readonly call: CallId;
      readonly request: RunRequest;
    }
  | {
      readonly kind: 'run-stop-requested';
      readonly call: CallId;
      readonly runId: RunId;
    }
  | {
      readonly kind: 'run-delete-requested';
      readonly call: CallId;
      readonly runId: RunId;
    }
  | {
      readonly kind: 'node-cordon-requested';
      readonly call: CallId;
      readonly nodeId: NodeId;
      readonly cordoned: boolean;
    }
  | {
      readonly kind: 'node-drain-requested';
      readonly call: CallId;
      readonly nodeId: NodeId;
      /** Milliseconds from now. */
      readonly deadline: number;
    }
  | { readonly kind: 'node-delete-requested'; readonly call: CallId; readonly nodeId: NodeId }
  | { readonly kind: 'token-requested'; readonly call: CallId; readonly token: TokenRecord }
  | { readonly kind: 'key-requested'; readonly call: CallId; readonly key: KeyRecord }
  | { readonly kind: 'key-revocation-requested'; readonly call: CallId; readonly keyId: string }
  /** Somebody brings a token's secret and a key. What the certificate will be was drawn before. */
  | {
      readonly kind: 'enrol-requested';
      readonly call: CallId;
      readonly secretDigest: string;
      readonly keyDigest: string;
      /** Empty for the token's. */
      readonly name: string;
      /** When the token has none either. */
      readonly defaultName: string;
      /** Empty for others than agents. */
      readonly instanceId: string;
      readonly serial: string;
      readonly notAfter: WallMillis;
    }
  | {
      readonly kind: 'renewal-requested';
      readonly call: CallId;
      /** Serial of the certificate that was shown. */
      readonly shown: string;
      readonly next: CertificateRecord;
    }
  | { readonly kind: 'revocation-requested'; readonly call: CallId; readonly serial: string }
  /** The first event after a start. */
  | { readonly kind: 'orchestrator-started' }
  | { readonly kind: 'token-endpoint-ready'; readonly runId: RunId; readonly generation: number }
  | {
      readonly kind: 'token-endpoint-lost';
      readonly runId: RunId;
      readonly generation: number;
      readonly fault: StageFault;
    }
  /** The prompt of a ONE_SHOT run is answered. */
  | {
      readonly kind: 'answer-ended';
      readonly runId: RunId;
      readonly generation: number;
      readonly answer: TextAnswer;
    }
  /** No answer of a SERVING run is under way. */
  | { readonly kind: 'token-endpoint-quiet'; readonly runId: RunId; readonly generation: number }
  /** It cannot be answered. */
  | { readonly kind: 'answer-failed'; readonly runId: RunId; readonly generation: number; readonly fault: StageFault }
  | { readonly kind: 'timer-fired'; readonly timer: Timer }
  | { readonly kind: 'loop-stalled' };

/** A launcher's CreateRun, with what the shell read for it. */
export interface RunRequest {
  readonly requestId: string;
  /** SHA-256 of the request without its id. */
  readonly digest: string;
  readonly plan: PlanRequest;
  /** Absent is never. */
  readonly restart?: RestartPolicy | undefined;
  /** What the orchestrator's own file says; absent when the request brought its own facts. */
  readonly inspection?: ModelInspection | undefined;
  /** Why that file cannot be planned, although it could be read. */
  readonly modelObstacle?: string | undefined;
  /** Where the engine may cut that file; absent when it may anywhere, or nobody read it. */
  readonly modelCuts?: ModelCuts | undefined;
  /** What the launcher should know of how the request was completed. */
  readonly warnings?: readonly string[] | undefined;
  readonly expectedPlanId?: string | undefined;
  /** What that dry run has chosen; absent when nobody remembers. */
  readonly expected?: SelectedPlan | undefined;
}
