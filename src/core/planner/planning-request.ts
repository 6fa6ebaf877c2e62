import type { ModelInspection } from '../../../gen/stageplane/v1/model.js';
import type { PlanRequest, SelectedPlan } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { RunId } from '../ids.js';
import type { Ledger } from '../model/stage-footprint.js';
import type { ModelCuts } from './model-cuts.js';
import type { PoolNode } from './pool-node.js';

/** A launcher's request and all that planning it may look at. */
export interface PlanningRequest {
  readonly request: PlanRequest;
  /** What the orchestrator's own file says; absent when the request brought its own facts. */
  readonly inspection?: ModelInspection | undefined;
  /** Why that file cannot be planned with the engine, although it could be read; one sentence. */
  readonly modelObstacle?: string | undefined;
  /** Where the engine may cut that file; absent when it may anywhere, or nobody read it. */
  readonly modelCuts?: ModelCuts | undefined;
  /** What the launcher should know of how the request was completed; sentences for the report. */
  readonly warnings?: readonly string[] | undefined;
  /** Every known node, by ascending id. */
  readonly pool: readonly PoolNode[];
  readonly runId: RunId;
  /** What earlier runs measured of stages with such settings. */
  readonly ledger?: ((settings: StageSettings) => Ledger) | undefined;
  /** What a dry run of this request has chosen: an automatic placement is not searched again, and only has to fit. */
  readonly expected?: SelectedPlan | undefined;
  /** SHA-256 of a text, as 64 hexadecimal digits. */
  readonly sha256: (text: string) => string;
}
