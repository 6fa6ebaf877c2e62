import {
  type DeviceKind,
  deviceKindToJSON,
  type NodeConditionType,
  nodeConditionTypeToJSON,
} from '../../../gen/stageplane/v1/node.js';
import {
  type CandidateStatus,
  candidateStatusToJSON,
  type RunMode,
  runModeToJSON,
} from '../../../gen/stageplane/v1/planner.js';
import { type KvCacheType, kvCacheTypeToJSON } from '../../../gen/stageplane/v1/provision.js';
import { type PlanRejectionKind, planRejectionKindToJSON } from '../../../gen/stageplane/v1/rejection.js';
import {
  type RunOutcome,
  type RunPhase,
  runOutcomeToJSON,
  runPhaseToJSON,
  type StageFaultReason,
  type StagePhase,
  stageFaultReasonToJSON,
  stagePhaseToJSON,
} from '../../../gen/stageplane/v1/run.js';

/** Enum values as people say them: the name without its prefix. A value of a newer server is `UNRECOGNIZED`. */
export const label = {
  runPhase: (value: RunPhase) => runPhaseToJSON(value).replace(/^RUN_PHASE_/, ''),
  runOutcome: (value: RunOutcome) => runOutcomeToJSON(value).replace(/^RUN_OUTCOME_/, ''),
  runMode: (value: RunMode) => runModeToJSON(value).replace(/^RUN_MODE_/, ''),
  stagePhase: (value: StagePhase) => stagePhaseToJSON(value).replace(/^STAGE_PHASE_/, ''),
  faultReason: (value: StageFaultReason) => stageFaultReasonToJSON(value).replace(/^STAGE_FAULT_REASON_/, ''),
  rejection: (value: PlanRejectionKind) => planRejectionKindToJSON(value).replace(/^PLAN_REJECTION_KIND_/, ''),
  condition: (value: NodeConditionType) => nodeConditionTypeToJSON(value).replace(/^NODE_CONDITION_TYPE_/, ''),
  candidateStatus: (value: CandidateStatus) =>
    candidateStatusToJSON(value)
      .replace(/^CANDIDATE_STATUS_/, '')
      .toLowerCase(),
  kvCacheType: (value: KvCacheType) => kvCacheTypeToJSON(value).replace(/^KV_CACHE_TYPE_/, ''),
  device: (value: DeviceKind) => deviceKindToJSON(value).replace(/^DEVICE_KIND_/, ''),
};
